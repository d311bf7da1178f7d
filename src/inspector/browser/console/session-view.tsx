import { Announcer } from './announcer.tsx'
import { ChartPanel } from './chart-panel.tsx'
import { Composer } from './composer.tsx'
import type { ConsoleSession } from './console-session.ts'
import { isKnown, shownState } from './console-store.ts'
import { Conversation } from './conversation.tsx'
import { Decisions } from './decisions.tsx'
import { FactPanel } from './fact-panel.tsx'
import { Meters } from './meters.tsx'
import { MomentPanel } from './moment-panel.tsx'
import { QuarantineBanner } from './quarantine-banner.tsx'
import { RecordsPanel } from './records-panel.tsx'
import { Tabs } from './tabs.tsx'
import { TimeBar } from './time-bar.tsx'
import { useConsole } from './use-console.ts'
import { WorkPanel } from './work-panel.tsx'

/** Everything of the open session. */
export function SessionView({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const view = useConsole(store, (state) => state.view)
  const refusal = useConsole(store, (state) => state.refusal)
  const known = useConsole(store, isKnown)
  if (refusal !== '') return <Refused desk={desk} refusal={refusal} />
  const unread = () => <p class="hint">The session is being read.</p>
  return (
    <div class="session">
      <SessionHead desk={desk} />
      <Announcer desk={desk} />
      <QuarantineBanner desk={desk} />
      <TimeBar desk={desk} />
      <div class="columns">
        <div class="talk">
          <Conversation desk={desk} />
          <Decisions desk={desk} />
          <Composer desk={desk} />
        </div>
        <Tabs
          label="Views of the session"
          chosen={view}
          onChoose={(next) => desk.store.trigger.view({ view: next })}
          tabs={[
            { name: 'charts', label: 'Charts', show: () => <ChartPanel desk={desk} /> },
            { name: 'facts', label: 'Facts', show: () => <FactPanel desk={desk} /> },
            { name: 'work', label: 'Work', show: known ? () => <WorkPanel desk={desk} /> : unread },
            { name: 'moment', label: 'State', show: known ? () => <MomentPanel desk={desk} /> : unread },
            { name: 'records', label: 'Records', show: () => <RecordsPanel desk={desk} /> },
          ]}
        />
      </div>
    </div>
  )
}

/** The server does not say what there is, so nothing is said about it. What is typed is kept. */
function Refused({ desk, refusal }: { desk: ConsoleSession; refusal: string }) {
  const { session, at, wanted, view } = desk.store.getSnapshot().context
  return (
    <div class="welcome">
      <h2>{session}</h2>
      <p class="unclear" role="alert">
        {refusal}
      </p>
      <p class="buttons">
        <button type="button" onClick={() => desk.open({ session, at: at ?? wanted, view })}>
          Try again
        </button>
      </p>
    </div>
  )
}

function SessionHead({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const session = useConsole(store, (state) => state.session)
  const shown = useConsole(store, shownState)
  const known = useConsole(store, isKnown)
  const isLive = useConsole(store, ({ at }) => at === null)
  const lifecycle = (shown?.session.value as { lifecycle?: string } | undefined)?.lifecycle
  const active = shown?.tasks.find(({ kind, state }) => kind === 'foreground' && activeStates.has(state))
  return (
    <div class="session-head">
      <h2>{session}</h2>
      {known ? (
        <p class="marks">
          <span class="mark">{lifecycle ?? 'not begun'}</span>
          <span class={active === undefined ? 'mark' : 'mark mark-live'} data-turn={active?.state ?? 'none'}>
            {active === undefined ? 'no turn is under way' : `turn: ${active.state}`}
          </span>
        </p>
      ) : (
        <p class="hint">The session is being read.</p>
      )}
      {known ? <Meters desk={desk} /> : null}
      {isLive && lifecycle === 'open' ? (
        <button type="button" onClick={() => void desk.act('Close the session', 'close')}>
          Close session
        </button>
      ) : null}
      {isLive && lifecycle === 'closed' ? (
        <button type="button" onClick={() => void desk.act('Reopen the session', 'reopen')}>
          Reopen session
        </button>
      ) : null}
    </div>
  )
}

const activeStates = new Set(['running', 'paused', 'cancelling', 'quiescing'])
