import { useState } from 'preact/hooks'
import type { ConsoleSession } from './console-session.ts'
import { LedgerTable } from './ledger-table.tsx'
import { NoteList } from './note-list.tsx'
import { seen } from './unseen.ts'
import { useConsole } from './use-console.ts'

/** What the session leaves: its ledger, its notes, documents to take elsewhere; and the way to remove its content. */
export function RecordsPanel({ desk }: { desk: ConsoleSession }) {
  return (
    <>
      <h3>Ledger</h3>
      <LedgerTable desk={desk} />
      <h3>Notes</h3>
      <NoteList desk={desk} />
      <h3>Documents</h3>
      <Documents desk={desk} />
      <h3>Erase</h3>
      <Erase desk={desk} />
    </>
  )
}

function Documents({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const session = useConsole(store, (state) => state.session) ?? ''
  const at = useConsole(store, (state) => state.at)
  const isEmpty = useConsole(store, ({ facts }) => facts.length === 0)
  const name = session.replace(/[^\w.-]+/g, '_')
  const moment = at === null ? '' : `-${at}`
  return (
    <>
      <p class="buttons">
        <button
          type="button"
          disabled={isEmpty}
          onClick={() =>
            void desk.download(`checkpoint${at === null ? '' : `?at=${at}`}`, {
              name: `${name}${moment}.checkpoint.json`,
              type: 'application/json',
            })
          }
        >
          Download checkpoint{at === null ? '' : ` of fact ${at}`}
        </button>
        <button
          type="button"
          disabled={isEmpty}
          onClick={() => void desk.download('patch', { name: `${name}.patch`, type: 'text/x-diff' })}
        >
          Download patch
        </button>
      </p>
      <p class="hint">
        A checkpoint takes the session to another store. A patch holds what changed in its workspace until now.
      </p>
    </>
  )
}

/** There is no way back, so the reader says by name which session is meant. */
function Erase({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const session = useConsole(store, (state) => state.session)
  const isLive = useConsole(store, ({ at }) => at === null)
  const lifecycle = useConsole(store, ({ live }) => lifecycleOf(live?.session.value))
  const [typed, setTyped] = useState('')
  if (lifecycle === null) return <p class="hint">There is nothing to erase yet.</p>
  if (lifecycle === 'erased') return <p class="hint">The session is erased: its facts are here, its content is gone.</p>
  if (!isLive) return <p class="hint">This is the past. Go back to live to erase the session.</p>
  // What cannot be typed is typed as it is shown.
  const isNamed = typed === session || typed === seen(session ?? '')
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    if (isNamed && (await desk.erase())) setTyped('')
  }
  return (
    <form class="erase" aria-label="Erase the session" onSubmit={(event) => void onSubmit(event)}>
      <p>Cancels what is under way, closes the session for ever and removes all its words, arguments and results.</p>
      <label>
        Type the session’s name to confirm: <b>{session}</b>
        <input
          value={typed}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </label>
      <p class="buttons">
        <button type="submit" class="danger" disabled={!isNamed}>
          Erase for ever
        </button>
      </p>
    </form>
  )
}

function lifecycleOf(value: unknown): string | null {
  return (value as { lifecycle?: string } | undefined)?.lifecycle ?? null
}
