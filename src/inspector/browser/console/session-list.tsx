import { useState } from 'preact/hooks'
import { type ConsoleSession, foldedName } from './console-session.ts'
import { addressOf, isFolded } from './place.ts'
import type { SessionEntry } from './shapes.ts'
import { useConsole } from './use-console.ts'
import { plural } from './words.ts'

const shown = 200

export function SessionList({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const listed = useConsole(store, (state) => state.sessions)
  const problem = useConsole(store, (state) => state.listProblem)
  const open = useConsole(store, (state) => state.session)
  const [words, setWords] = useState('')
  const sessions = listed ?? []
  const wanted = words.trim().toLowerCase()
  const found = sessions.filter(({ session, title }) => `${session} ${title ?? ''}`.toLowerCase().includes(wanted))
  const live = sessions.filter(({ active }) => active !== undefined).length
  return (
    <nav class="sessions" aria-label="Sessions">
      <h2>Sessions</h2>
      {listed === null ? null : (
        <p class="hint">
          {problem === '' ? '' : 'As it was read before: '}
          {plural(sessions.length, 'session')}, {live} at work
        </p>
      )}
      <p class="unclear" role="status" data-list-problem>
        {problem}
      </p>
      <NewSession desk={desk} />
      {sessions.length < 8 ? null : (
        <label class="find">
          Find <input type="search" value={words} onInput={({ currentTarget }) => setWords(currentTarget.value)} />
        </label>
      )}
      <ul>
        {found.slice(0, shown).map((entry) => (
          <li key={entry.session}>
            <a href={addressOf({ session: entry.session })} aria-current={entry.session === open ? 'page' : undefined}>
              <span class="session-name">{entry.session}</span>
              {entry.title === undefined ? null : <span class="hint">{entry.title}</span>}
              <Marks entry={entry} />
            </a>
          </li>
        ))}
      </ul>
      {found.length === 0 && sessions.length > 0 ? <p class="hint">None is named so.</p> : null}
      {found.length > shown ? <p class="hint">{found.length - shown} more: find them by name.</p> : null}
    </nav>
  )
}

function Marks({ entry }: { entry: SessionEntry }) {
  const { state, active, queued, quarantined } = entry
  return (
    <span class="marks">
      {active === undefined ? null : <span class="mark mark-live">at work</span>}
      {queued === 0 ? null : <span class="mark">{queued} queued</span>}
      {quarantined === 0 ? null : <span class="mark mark-bad">quarantined</span>}
      {state === 'open' ? null : <span class="mark">{state}</span>}
    </span>
  )
}

function NewSession({ desk }: { desk: ConsoleSession }) {
  const [name, setName] = useState('')
  const isRefused = isFolded(name.trim())
  const onSubmit = (event: Event) => {
    event.preventDefault()
    if (name.trim() === '' || isRefused) return
    const place = { session: name.trim() }
    // An address that stands there already changes nothing, and so would tell nobody.
    if (location.hash === addressOf(place)) desk.open(place)
    else location.hash = addressOf(place)
    setName('')
  }
  return (
    <form class="new-session" onSubmit={onSubmit}>
      <label for="new-session">Open or begin</label>
      <input
        id="new-session"
        value={name}
        placeholder="its name"
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      <button type="submit">Open</button>
      <p class="unclear" role="status">
        {isRefused ? foldedName : ''}
      </p>
    </form>
  )
}
