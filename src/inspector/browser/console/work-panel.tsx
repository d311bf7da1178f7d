import { type CallRow, callTable } from './call-table.ts'
import type { ConsoleSession } from './console-session.ts'
import { type ConsoleState, shownSeq, shownState } from './console-store.ts'
import { QueueList } from './queue-list.tsx'
import type { Task } from './shapes.ts'
import { useWholeConsole } from './use-console.ts'
import { plural, shortId } from './words.ts'

const callsShown = 50

/** What is under way, what waits, and what was called. */
export function WorkPanel({ desk }: { desk: ConsoleSession }) {
  const state = useWholeConsole(desk.store)
  const shown = shownState(state)
  const calls = callTable(state.facts, shownSeq(state))
  const tasks = shown?.tasks ?? []
  const ending = tasks.find((task) => task.state === 'cancelling' || task.state === 'quiescing')
  return (
    <>
      {ending === undefined ? null : <Ending task={ending} calls={calls} />}
      <h3>Queue</h3>
      <QueueList desk={desk} tasks={queued(tasks, shown?.queue ?? [])} isLive={state.at === null} />
      {(shown?.steering.length ?? 0) === 0 ? null : (
        <p class="hint">{plural(shown?.steering.length ?? 0, 'message')} wait to join the turn.</p>
      )}
      <h3>Background</h3>
      <BackgroundTree tasks={tasks} parent={null} desk={desk} isLive={state.at === null} />
      <h3>Calls</h3>
      <CallList calls={calls} state={state} />
    </>
  )
}

function queued(tasks: readonly Task[], queue: readonly string[]): readonly Task[] {
  const byId = new Map(tasks.map((task) => [task.id, task]))
  return queue.flatMap((id) => byId.get(id) ?? [])
}

function Ending({ task, calls }: { task: Task; calls: readonly CallRow[] }) {
  const open = calls.filter((call) => call.task === task.id && !call.isOver)
  return (
    <section class="ending" aria-label="A turn that ends">
      <h3>
        {task.state} <code>{shortId(task.id)}</code>
      </h3>
      <p>{open.length === 0 ? 'Nothing is waited for.' : `Waits for ${plural(open.length, 'call')}:`}</p>
      <ul>
        {open.map(({ id, name, state }) => (
          <li key={id}>
            <b>{name}</b> {state} <code>{shortId(id)}</code>
          </li>
        ))}
      </ul>
    </section>
  )
}

interface Tree {
  readonly desk: ConsoleSession
  readonly tasks: readonly Task[]
  readonly parent: string | null
  readonly isLive: boolean
}

function BackgroundTree({ desk, tasks, parent, isLive }: Tree) {
  const background = tasks.filter(({ kind }) => kind === 'background')
  const ids = new Set(background.map(({ id }) => id))
  // A child of a foreground turn, or of nobody, stands at the top.
  const here = background.filter((task) =>
    parent === null ? task.parent === undefined || !ids.has(task.parent) : task.parent === parent,
  )
  if (here.length === 0) return parent === null ? <p class="hint">None.</p> : null
  return (
    <ul class="tree">
      {here.map((task) => (
        <li key={task.id}>
          <code>{shortId(task.id)}</code> <span class="mark">{task.status ?? task.state}</span>
          {task.group === undefined ? null : <span class="hint"> group {shortId(task.group)}</span>}
          {isLive && task.state !== 'terminal' ? (
            <button
              type="button"
              aria-label={`Cancel the background task ${shortId(task.id)}`}
              onClick={() => void desk.act('Cancel', `tasks/${encodeURIComponent(task.id)}/cancel`)}
            >
              Cancel
            </button>
          ) : null}
          <BackgroundTree desk={desk} tasks={tasks} parent={task.id} isLive={isLive} />
        </li>
      ))}
    </ul>
  )
}

function CallList({ calls, state }: { calls: readonly CallRow[]; state: ConsoleState }) {
  if (calls.length === 0) return <p class="hint">None.</p>
  return (
    <>
      {calls.length > callsShown ? <p class="hint">The newest {callsShown}.</p> : null}
      <table class="calls" aria-label="Calls">
        <thead>
          <tr>
            <th scope="col">Call</th>
            <th scope="col">Effect</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {calls
            .slice(-callsShown)
            .reverse()
            .map(({ id, name, effect, state: phase, isOver }) => (
              <tr key={id}>
                <th scope="row">
                  {name} <code>{shortId(id)}</code>
                </th>
                <td>{effect ?? 'unknown name'}</td>
                <td>
                  {phase}
                  {isOver || state.at !== null || state.progress[id] === undefined ? null : (
                    <span class="hint"> {state.progress[id]}</span>
                  )}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </>
  )
}
