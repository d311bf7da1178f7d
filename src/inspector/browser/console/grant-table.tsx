import { useState } from 'preact/hooks'
import type { ConsoleSession } from './console-session.ts'
import type { SessionState } from './shapes.ts'
import { shortId } from './words.ts'

const levels = ['none', 'discover', 'inspect', 'load', 'execute', 'activate']
const confirms = ['none', 'once', 'each']

interface Grant {
  readonly level: string
  readonly confirm: string
}

interface Grants {
  readonly desk: ConsoleSession
  readonly grants: SessionState['grants']
  readonly isLive: boolean
}

/** What living tasks may use. Authority can be taken from them here and is never given back. */
export function GrantTables({ desk, grants, isLive }: Grants) {
  // A turn that waits was granted nothing yet.
  const tasks = Object.entries(grants).filter(([, of]) => Object.keys(of).length > 0)
  if (tasks.length === 0) return <p class="hint">No task may use anything.</p>
  return (
    <>
      {tasks.map(([task, of]) => (
        <GrantTable key={task} desk={desk} task={task} grants={of} isLive={isLive} />
      ))}
    </>
  )
}

interface OfTask {
  readonly desk: ConsoleSession
  readonly task: string
  readonly grants: { readonly [id: string]: Grant }
  readonly isLive: boolean
}

function GrantTable({ desk, task, grants, isLive }: OfTask) {
  const [reducing, setReducing] = useState<string | null>(null)
  return (
    <table class="grants">
      <caption>
        task <code>{shortId(task)}</code>
      </caption>
      <thead>
        <tr>
          <th scope="col">Capability</th>
          <th scope="col">Level</th>
          <th scope="col">Confirm</th>
          {isLive ? <th scope="col">Take away</th> : null}
        </tr>
      </thead>
      <tbody>
        {Object.entries(grants).map(([id, grant]) => (
          <GrantRow
            key={id}
            desk={desk}
            task={task}
            of={{ id, grant }}
            isLive={isLive}
            isOpen={reducing === id}
            onOpen={(open) => setReducing(open ? id : null)}
          />
        ))}
      </tbody>
    </table>
  )
}

interface Row {
  readonly desk: ConsoleSession
  readonly task: string
  readonly of: { readonly id: string; readonly grant: Grant }
  readonly isLive: boolean
  readonly isOpen: boolean
  readonly onOpen: (open: boolean) => void
}

function GrantRow({ desk, task, of: { id, grant }, isLive, isOpen, onOpen }: Row) {
  const canShrink = grant.level !== 'none'
  return (
    <>
      <tr>
        <th scope="row">{id}</th>
        <td>{grant.level}</td>
        <td>{grant.confirm}</td>
        {isLive ? (
          <td>
            {canShrink ? (
              <button type="button" aria-label={`Reduce ${id}`} aria-expanded={isOpen} onClick={() => onOpen(!isOpen)}>
                Reduce
              </button>
            ) : null}
          </td>
        ) : null}
      </tr>
      {isLive && isOpen ? (
        <tr>
          <td colSpan={4}>
            <Reduce desk={desk} task={task} of={{ id, grant }} onDone={() => onOpen(false)} />
          </td>
        </tr>
      ) : null}
    </>
  )
}

function Reduce({ desk, task, of, onDone }: Pick<Row, 'desk' | 'task' | 'of'> & { onDone: () => void }) {
  const { id, grant } = of
  const [level, setLevel] = useState('none')
  const [confirm, setConfirm] = useState(grant.confirm)
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    const body = { id, grant: { level, confirm } }
    if (await desk.act(`Reduce ${id}`, `tasks/${encodeURIComponent(task)}/grants`, body)) onDone()
  }
  return (
    <form class="reduce" aria-label={`Reduce ${id}`} onSubmit={(event) => void onSubmit(event)}>
      <Choice label="New level" of={upTo(levels, grant.level)} chosen={level} onChoose={setLevel} />
      <Choice label="New confirm" of={from(confirms, grant.confirm)} chosen={confirm} onChoose={setConfirm} />
      <button type="submit" class="danger" disabled={level === grant.level && confirm === grant.confirm}>
        Take it away
      </button>
    </form>
  )
}

/** What is not more than a level: a tool ends at `execute`, a skill at `activate`. */
function upTo(all: readonly string[], most: string): readonly string[] {
  return all.slice(0, all.indexOf(most) + 1).filter((each) => most !== 'activate' || each !== 'execute')
}

function from(all: readonly string[], least: string): readonly string[] {
  return all.slice(Math.max(all.indexOf(least), 0))
}

interface ChoiceOf {
  readonly label: string
  readonly of: readonly string[]
  readonly chosen: string
  readonly onChoose: (name: string) => void
}

function Choice({ label, of, chosen, onChoose }: ChoiceOf) {
  return (
    <label class="inline">
      {label}
      <select value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {of.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
