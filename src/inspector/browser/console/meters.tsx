import type { ConsoleSession } from './console-session.ts'
import { shownSeq, shownState } from './console-store.ts'
import type { Fact } from './shapes.ts'
import { useWholeConsole } from './use-console.ts'

/** What the newest accounting up to a moment says. */
export function occupancyAt(facts: readonly Fact[], at: number): Fact['data'] | null {
  for (let index = Math.min(at, facts.length) - 1; index >= 0; index -= 1) {
    const fact = facts[index]
    if (fact?.type === 'context.accounted') return fact.data
  }
  return null
}

export function Meters({ desk }: { desk: ConsoleSession }) {
  const state = useWholeConsole(desk.store)
  const budget = shownState(state)?.budget
  const accounted = occupancyAt(state.facts, shownSeq(state))
  return (
    <dl class="meters">
      <Meter
        name="Budget"
        value={(budget?.used ?? 0) + (budget?.reserved ?? 0)}
        bound={budget?.limit ?? null}
        note={
          budget !== undefined && budget.reserved > 0 ? `${budget.reserved.toLocaleString('en')} of it reserved` : ''
        }
      />
      <Meter
        name="Context"
        value={numberOf(accounted?.occupancy)}
        bound={numberOf(accounted?.window) || null}
        note=""
      />
    </dl>
  )
}

interface MeterOf {
  readonly name: string
  readonly value: number
  readonly bound: number | null
  readonly note: string
}

function Meter({ name, value, bound, note }: MeterOf) {
  const of = bound === null ? 'tokens, no bound' : `of ${bound.toLocaleString('en')} tokens`
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value.toLocaleString('en')} {of}
        {bound === null ? null : <meter aria-label={name} min={0} max={bound} high={bound * 0.8} value={value} />}
        {note === '' ? null : <span class="hint"> {note}</span>}
      </dd>
    </div>
  )
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
