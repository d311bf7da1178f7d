import { useState } from 'preact/hooks'
import type { ConsoleSession } from './console-session.ts'
import type { Link, Theme } from './console-store.ts'
import { rememberCredentials } from './remembered.ts'
import { useConsole } from './use-console.ts'

const links: Readonly<Record<Link, string>> = {
  idle: 'no session',
  connecting: 'connecting',
  live: 'live',
  lost: 'connection lost, trying again',
  refused: 'refused',
}
const themes: readonly Theme[] = ['auto', 'light', 'dark']

export function TopBar({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const link = useConsole(store, (state) => state.link)
  const theme = useConsole(store, (state) => state.theme)
  return (
    <header class="top">
      <h1>Landfall</h1>
      <p class={`link link-${link}`} role="status">
        {links[link]}
      </p>
      <Identity desk={desk} />
      <label class="theme">
        Colours{' '}
        <select
          value={theme}
          onChange={({ currentTarget }) => store.trigger.theme({ theme: currentTarget.value as Theme })}
        >
          {themes.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
    </header>
  )
}

function Identity({ desk }: { desk: ConsoleSession }) {
  const credentials = useConsole(desk.store, (state) => state.credentials)
  const [isOpen, setOpen] = useState(false)
  const who = credentials.token === '' ? `${credentials.tenant} / ${credentials.user}` : 'with a token'
  const onSubmit = (event: Event) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const next = { tenant: text('tenant') || 'local', user: text('user') || 'local', token: text('token') }
    rememberCredentials(next)
    desk.open({ session: null })
    desk.store.trigger.identify({ credentials: next })
    setOpen(false)
    void desk.lister.list()
  }
  return (
    <details class="identity" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Identity: {who}</summary>
      {/* What is typed is the browser's until it is sent: drawing the bar anew must not take it back. */}
      <form key={JSON.stringify(credentials)} onSubmit={onSubmit} autocomplete="off">
        <label>
          Tenant
          <input name="tenant" defaultValue={credentials.tenant} />
        </label>
        <label>
          User
          <input name="user" defaultValue={credentials.user} />
        </label>
        <label>
          Bearer token
          <input name="token" type="password" defaultValue={credentials.token} autocomplete="off" />
        </label>
        <p class="hint">A server with keys reads the token, one without reads the names. Kept in this tab only.</p>
        <button type="submit">Use this identity</button>
      </form>
    </details>
  )
}
