import type { ConsoleSession } from './console-session.ts'
import { shownSeq, shownState } from './console-store.ts'
import { GrantTables } from './grant-table.tsx'
import { occupancyAt } from './meters.tsx'
import { RequestView, requestSeqAt } from './request-view.tsx'
import { useWholeConsole } from './use-console.ts'
import { asJson } from './words.ts'

/** Authority, context and the request of the moment that is shown. */
export function MomentPanel({ desk }: { desk: ConsoleSession }) {
  const state = useWholeConsole(desk.store)
  const shown = shownState(state)
  const seq = shownSeq(state)
  const accounted = occupancyAt(state.facts, seq)
  return (
    <>
      <h3>Grants</h3>
      <GrantTables desk={desk} grants={shown?.grants ?? {}} isLive={state.at === null} />
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
