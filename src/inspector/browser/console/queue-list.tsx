import { useState } from 'preact/hooks'
import type { ConsoleSession } from './console-session.ts'
import type { Task } from './shapes.ts'
import { useTyped } from './use-typed.ts'
import { shortId } from './words.ts'

interface Queue {
  readonly desk: ConsoleSession
  readonly tasks: readonly Task[]
  readonly isLive: boolean
}

/** Turns that wait, in the order in which they will start. */
export function QueueList({ desk, tasks, isLive }: Queue) {
  const [replacing, setReplacing] = useState<string | null>(null)
  if (tasks.length === 0) return <p class="hint">Nothing waits.</p>
  return (
    <ol class="queue">
      {tasks.map((task) => (
        <li key={task.id}>
          <span>
            <code>{shortId(task.id)}</code>{' '}
            <span class={task.state === 'blocked' ? 'mark mark-bad' : 'mark'}>{task.state}</span>
            {task.requires === 'success' ? <span class="hint"> if the one before completes</span> : null}
          </span>
          {isLive ? (
            <QueueButtons
              desk={desk}
              task={task}
              onReplace={() => setReplacing(replacing === task.id ? null : task.id)}
            />
          ) : null}
          {isLive && replacing === task.id ? (
            <Replace desk={desk} task={task.id} onDone={() => setReplacing(null)} />
          ) : null}
        </li>
      ))}
    </ol>
  )
}

interface ButtonsOf {
  readonly desk: ConsoleSession
  readonly task: Task
  readonly onReplace: () => void
}

function QueueButtons({ desk, task, onReplace }: ButtonsOf) {
  const { id, state } = task
  const path = `tasks/${encodeURIComponent(id)}`
  const of = `the turn ${shortId(id)}`
  return (
    <span class="buttons">
      {state === 'blocked' ? (
        <button type="button" aria-label={`Unblock ${of}`} onClick={() => void desk.act('Unblock', `${path}/unblock`)}>
          Unblock
        </button>
      ) : null}
      <button type="button" aria-label={`Replace ${of}`} onClick={onReplace}>
        Replace
      </button>
      <button
        type="button"
        class="danger"
        aria-label={`Cancel ${of}`}
        onClick={() => void desk.act('Cancel', `${path}/cancel`)}
      >
        Cancel
      </button>
    </span>
  )
}

function Replace({ desk, task, onDone }: { desk: ConsoleSession; task: string; onDone: () => void }) {
  const { text, type, wasSent } = useTyped(desk, `replace ${task}`)
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    if (text.trim() === '') return
    if (!(await desk.act('Replace', `tasks/${encodeURIComponent(task)}/replace`, { input: text }))) return
    wasSent(text)
    onDone()
  }
  return (
    <form onSubmit={(event) => void onSubmit(event)}>
      <label>
        New input
        <textarea rows={2} value={text} onInput={({ currentTarget }) => type(currentTarget.value)} />
      </label>
      <button type="submit">Use this input</button>
    </form>
  )
}
