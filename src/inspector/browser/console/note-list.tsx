import { useState } from 'preact/hooks'
import { sessionPath } from './api.ts'
import type { ConsoleSession } from './console-session.ts'
import { useConsole } from './use-console.ts'
import { useReading } from './use-reading.ts'
import { useTyped } from './use-typed.ts'
import { asJson } from './words.ts'

interface Note {
  readonly key: string
  readonly bytes?: number
}

type SharedScope = 'user' | 'tenant'
type MemoryScope = 'session' | SharedScope

const sharedScopes: readonly SharedScope[] = ['user', 'tenant']
const scopes: readonly MemoryScope[] = ['session', ...sharedScopes]

/** Notes that the session reads: its own, and those of its user and tenant. They are those of now, whatever moment is shown. */
export function NoteList({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const session = useConsole(store, (state) => state.session) ?? ''
  const [scope, setScope] = useState<MemoryScope>('session')
  const [version, setVersion] = useState(0)
  const changes = useConsole(store, ({ facts }) => facts.findLast(({ type }) => type.startsWith('memory.'))?.seq ?? 0)
  const isLive = useConsole(store, ({ at }) => at === null)
  const isErased = useConsole(store, (state) => state.isErased)
  const isBegun = useConsole(store, ({ facts }) => facts.length > 0)
  const key = `${session} ${scope} ${changes} ${version}`
  const { value, problem } = useReading(isBegun ? key : null, async (signal) => {
    const items = await desk.api.list<Note>(`${sessionPath(session)}/memory?scope=${scope}`, signal)
    return { scope, items }
  })
  const notes = value?.scope === scope ? value.items : []
  const act = async (words: string, path: string, body: object) => {
    const isDone = await desk.act(words, path, body)
    setVersion((before) => before + 1)
    return isDone
  }
  return (
    <>
      <fieldset class="choice">
        <legend class="sr-only">Whose notes</legend>
        {scopes.map((each) => (
          <label key={each}>
            <input type="radio" name="memory" checked={scope === each} onChange={() => setScope(each)} />
            {each === 'session' ? 'Of this session' : `Of the ${each}`}
          </label>
        ))}
      </fieldset>
      {problem === '' ? null : <p class="hint">{problem}</p>}
      {notes.length === 0 ? <p class="hint">Nothing is noted.</p> : null}
      <ul class="notes" aria-label="Notes">
        {notes.map((note) => (
          <NoteItem
            key={`${scope} ${note.key} ${version} ${changes}`}
            desk={desk}
            note={note}
            scope={scope}
            onRemove={isLive ? () => void act('Remove the note', 'memory/remove', { key: note.key, scope }) : undefined}
            onPromote={
              isLive && !isErased && scope === 'session'
                ? (to) => void act(`Copy to the ${to}`, 'memory/promote', { key: note.key, to })
                : undefined
            }
          />
        ))}
      </ul>
      {isLive && isBegun && !isErased && scope === 'session' ? (
        <NewNote desk={desk} onPut={(body) => act('Note', 'memory', body)} />
      ) : null}
    </>
  )
}

interface NoteOf {
  readonly desk: ConsoleSession
  readonly note: Note
  readonly scope: MemoryScope
  readonly onRemove: (() => void) | undefined
  readonly onPromote: ((to: SharedScope) => void) | undefined
}

/** What a note says is read when somebody opens it. */
function NoteItem({ desk, note: { key, bytes }, scope, onRemove, onPromote }: NoteOf) {
  const [isOpen, setOpen] = useState(false)
  const path = sessionPath(desk.store.getSnapshot().context.session ?? '')
  const { value, problem } = useReading(isOpen ? key : null, (signal) =>
    desk.api.get<{ value: unknown }>(`${path}/memory?scope=${scope}&key=${encodeURIComponent(key)}`, signal),
  )
  return (
    <li class="note">
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <b>{key}</b> {bytes === undefined ? null : <span class="hint">{bytes.toLocaleString('en')} bytes</span>}
        </summary>
        {problem === '' ? null : <p class="hint">{problem}</p>}
        {value === null ? null : <pre>{asJson(value.value)}</pre>}
      </details>
      {onPromote === undefined
        ? null
        : sharedScopes.map((to) => (
            <button
              key={to}
              type="button"
              aria-label={`Copy the note ${key} to the ${to}`}
              onClick={() => onPromote(to)}
            >
              To the {to}
            </button>
          ))}
      {onRemove === undefined ? null : (
        <button type="button" class="danger" aria-label={`Remove the note ${key}`} onClick={onRemove}>
          Remove
        </button>
      )}
    </li>
  )
}

interface NewNoteOf {
  readonly desk: ConsoleSession
  readonly onPut: (body: { key: string; value: unknown }) => Promise<boolean>
}

function NewNote({ desk, onPut }: NewNoteOf) {
  const { text: key, type: typeKey, wasSent: keyWasSent } = useTyped(desk, 'note key')
  const { text, type, wasSent } = useTyped(desk, 'note')
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    if (key === '' || !(await onPut({ key, value: parsed(text) }))) return
    keyWasSent(key)
    wasSent(text)
  }
  return (
    <form class="new-note" aria-label="Note something" onSubmit={(event) => void onSubmit(event)}>
      <label>
        Key
        <input value={key} onInput={({ currentTarget }) => typeKey(currentTarget.value)} />
      </label>
      <label>
        Value
        <textarea rows={2} value={text} onInput={({ currentTarget }) => type(currentTarget.value)} />
      </label>
      <p class="buttons">
        <button type="submit">Note it</button>
        <span class="hint">JSON as it is; anything else as a text. A key that is there gets the new value.</span>
      </p>
    </form>
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
