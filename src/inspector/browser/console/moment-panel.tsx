import type { ConsoleSession } from './console-session.ts'
import { shownSeq, shownState } from './console-store.ts'
import { occupancyAt } from './meters.tsx'
import { RequestView, requestSeqAt } from './request-view.tsx'
import type { SessionState } from './shapes.ts'
import { useWholeConsole } from './use-console.ts'
import { asJson, shortId } from './words.ts'

/** Authority, context and the request of the moment that is shown. */
export function MomentPanel({ desk }: { desk: ConsoleSession }) {
  const state = useWholeConsole(desk.store)
  const shown = shownState(state)
  const seq = shownSeq(state)
  const accounted = occupancyAt(state.facts, seq)
  return (
    <>
      <h3>Grants</h3>
      <Grants grants={shown?.grants ?? {}} />
      <h3>Context</h3>
      <p>{shown?.context.messages ?? 0} messages</p>
      {accounted === null ? (
        <p class="hint">Nothing was accounted yet.</p>
      ) : (
        <dl class="pairs">
          {Object.entries(accounted).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      <h3>Request to the model</h3>
      <RequestView desk={desk} seq={requestSeqAt(state.facts, seq)} />
      <details>
        <summary>Whole state</summary>
        <pre>{asJson(shown)}</pre>
      </details>
    </>
  )
}

function Grants({ grants }: { grants: SessionState['grants'] }) {
  const tasks = Object.entries(grants)
  if (tasks.length === 0) return <p class="hint">No task lives.</p>
  return (
    <>
      {tasks.map(([task, of]) => (
        <table key={task}>
          <caption>
            task <code>{shortId(task)}</code>
          </caption>
          <thead>
            <tr>
              <th scope="col">Capability</th>
              <th scope="col">Level</th>
              <th scope="col">Confirm</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(of).map(([id, { level, confirm }]) => (
              <tr key={id}>
                <th scope="row">{id}</th>
                <td>{level}</td>
                <td>{confirm}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </>
  )
}
