import { callTable } from './call-table.ts'
import type { ConsoleSession } from './console-session.ts'
import { shownSeq, shownState } from './console-store.ts'
import { useWholeConsole } from './use-console.ts'
import { shortId } from './words.ts'

/** Nobody knows what some calls did. Until somebody has looked, calls that change something wait. */
export function QuarantineBanner({ desk }: { desk: ConsoleSession }) {
  const state = useWholeConsole(desk.store)
  const calls = shownState(state)?.quarantined ?? []
  if (calls.length === 0) return null
  const names = new Map(callTable(state.facts, shownSeq(state)).map(({ id, name }) => [id, name]))
  const isLive = state.at === null
  return (
    <section class="banner" role="alert" aria-label="Quarantine">
      <h3>Quarantined: what {calls.length === 1 ? 'a call' : `${calls.length} calls`} did is unknown</h3>
      <p>Nothing that changes the world is called until somebody has looked and acknowledges it.</p>
      <ul>
        {calls.map((call) => (
          <li key={call}>
            <b>{names.get(call) ?? 'call'}</b> <code>{shortId(call)}</code>{' '}
            {isLive ? (
              <button
                type="button"
                aria-label={`Acknowledge ${shortId(call)} ${names.get(call) ?? 'call'}`}
                onClick={() => void desk.act('Acknowledge the call', 'acknowledge', { calls: [call] })}
              >
                Acknowledge
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      {isLive && calls.length > 1 ? (
        <button type="button" onClick={() => void desk.act('Acknowledge all calls', 'acknowledge', { calls: 'all' })}>
          Acknowledge all
        </button>
      ) : null}
    </section>
  )
}
