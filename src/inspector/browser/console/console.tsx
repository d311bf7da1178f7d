import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import 'virtual:charts.css'
import '../page.css'
import './console.css'
import './panels.css'
import { ConsoleSession } from './console-session.ts'
import { type ConsoleStore, createConsoleStore, type Theme } from './console-store.ts'
import { keepAddress, onAddress, placeInAddress } from './place.ts'
import {
  rememberedCredentials,
  rememberedTheme,
  rememberedUnsent,
  rememberTheme,
  rememberUnsent,
} from './remembered.ts'
import { SessionList } from './session-list.tsx'
import { SessionView } from './session-view.tsx'
import { showUnseen } from './show-unseen.ts'
import { TopBar } from './top-bar.tsx'
import { seen } from './unseen.ts'
import { useConsole } from './use-console.ts'

function Console({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const session = useConsole(store, (state) => state.session)
  const theme = useConsole(store, (state) => state.theme)
  useEffect(() => applyTheme(theme), [theme])
  useEffect(() => {
    document.title = session === null ? 'Landfall' : `${seen(session)} – Landfall`
  }, [session])
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the session
      </button>
      <TopBar desk={desk} />
      <div class="frame">
        <SessionList desk={desk} />
        <main id="main" tabIndex={-1} aria-label={session === null ? 'Session' : `Session ${session}`}>
          {session === null ? <Welcome /> : <SessionView key={session} desk={desk} />}
        </main>
      </div>
      <Notice desk={desk} />
    </>
  )
}

function Welcome() {
  return (
    <div class="welcome">
      <h2>No session is open</h2>
      <p>Choose one from the list, or name a new one there: it begins with its first turn.</p>
    </div>
  )
}

/** What came of the last command. It stays until the next one, so that nobody has to be quick. */
function Notice({ desk }: { desk: ConsoleSession }) {
  const notice = useConsole(desk.store, (state) => state.notice)
  return (
    <div class="notice-place" role="status" aria-live="polite">
      {notice === null ? null : (
        <p class={notice.isProblem ? 'notice problem' : 'notice'}>
          <span>{notice.text}</span>
          <button type="button" aria-label="Dismiss" onClick={() => desk.store.trigger.say({ notice: null })}>
            ×
          </button>
        </p>
      )}
    </div>
  )
}

function applyTheme(theme: Theme): void {
  rememberTheme(theme)
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

function keepUnsent(store: ConsoleStore): void {
  let kept = store.getSnapshot().context.unsent
  store.subscribe(({ context: { unsent } }) => {
    if (unsent === kept) return
    kept = unsent
    rememberUnsent(unsent)
  })
}

const place = document.getElementById('page')
if (place !== null) {
  const desk = new ConsoleSession(createConsoleStore(rememberedCredentials(), rememberedTheme(), rememberedUnsent()))
  keepUnsent(desk.store)
  onAddress(desk.store, (at) => desk.open(at))
  showUnseen()
  place.replaceChildren()
  render(<Console desk={desk} />, place)
  void desk.lister.list()
  desk.open(placeInAddress())
  keepAddress(desk.store)
}
