import { Announcer } from './announcer.tsx'
import { ChartPanel } from './chart-panel.tsx'
import { Composer } from './composer.tsx'
import type { ConsoleSession } from './console-session.ts'
import { shownState } from './console-store.ts'
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
  const view = useConsole(desk.store, (state) => state.view)
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
            { name: 'work', label: 'Work', show: () => <WorkPanel desk={desk} /> },
            { name: 'moment', label: 'State', show: () => <MomentPanel desk={desk} /> },
            { name: 'records', label: 'Records', show: () => <RecordsPanel desk={desk} /> },
          ]}
        />
      </div>
    </div>
  )
}

function SessionHead({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const session = useConsole(store, (state) => state.session)
  const shown = useConsole(store, shownState)
  const isLive = useConsole(store, ({ at }) => at === null)
  const lifecycle = (shown?.session.value as { lifecycle?: string } | undefined)?.lifecycle
  const active = shown?.tasks.find(({ kind, state }) => kind === 'foreground' && activeStates.has(state))
  return (
    <div class="session-head">
      <h2>{session}</h2>
      <p class="marks">
        <span class="mark">{lifecycle ?? 'not begun'}</span>
        <span class={active === undefined ? 'mark' : 'mark mark-live'} data-turn={active?.state ?? 'none'}>
          {active === undefined ? 'no turn is under way' : `turn: ${active.state}`}
        </span>
      </p>
      <Meters desk={desk} />
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
