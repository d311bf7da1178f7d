import type { ConsoleSession } from './console-session.ts'
import { shownSeq } from './console-store.ts'
import { useWholeConsole } from './use-console.ts'
import { clockTime } from './words.ts'

/** Which moment is shown: now, or any fact of the past. */
export function TimeBar({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const state = useWholeConsole(store)
  const { at, facts, past } = state
  const last = facts.length
  const seq = shownSeq(state)
  const fact = facts[seq - 1]
  if (last === 0) return null
  const look = (to: number | null) => store.trigger.look({ at: to })
  const words = fact === undefined ? '' : `${fact.type} at ${clockTime(fact.at)}`
  return (
    <fieldset class={at === null ? 'time' : 'time time-past'} aria-label="Moment that is shown">
      <button type="button" aria-label="One fact back" disabled={seq <= 1} onClick={() => look(seq - 1)}>
        ‹
      </button>
      <input
        type="range"
        aria-label="Fact"
        aria-valuetext={`fact ${seq} of ${last}: ${words}`}
        min={1}
        max={last}
        value={seq}
        onInput={({ currentTarget }) => look(Number(currentTarget.value))}
      />
      <button
        type="button"
        aria-label="One fact on"
        disabled={at === null || seq >= last}
        onClick={() => look(seq + 1)}
      >
        ›
      </button>
      <button type="button" class="live" aria-pressed={at === null} onClick={() => look(null)}>
        Live
      </button>
      <p class="moment" data-ready={at === null || past?.seq === at}>
        {at === null ? `${last} facts` : `Fact ${seq} of ${last}`} <span class="hint">{words}</span>
      </p>
    </fieldset>
  )
}
