import { charts } from 'virtual:charts'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ChartDrawing } from '../chart-drawing.tsx'
import { valueText } from '../state-panel.tsx'
import { activeStates } from './active-states.ts'
import { type CallRow, callTable } from './call-table.ts'
import type { ConsoleSession } from './console-session.ts'
import { shownSeq, shownState } from './console-store.ts'
import type { SessionState, Task } from './shapes.ts'
import { useWholeConsole } from './use-console.ts'
import { shortId } from './words.ts'

const nothingTaken: readonly string[] = []
const ignore = () => {}

/** The charts of the session, of one of its tasks and of one of its calls, each with what is active in it. */
export function ChartPanel({ desk }: { desk: ConsoleSession }) {
  const state = useWholeConsole(desk.store)
  const [isWhole, setWhole] = useState(false)
  const [taskWanted, setTask] = useState('')
  const [callWanted, setCall] = useState('')
  const shown = shownState(state)
  const tasks = shown?.tasks ?? []
  const task = tasks.find(({ id }) => id === taskWanted) ?? tasks.findLast(isAtWork) ?? tasks.at(-1)
  const calls = callTable(state.facts, shownSeq(state)).filter((call) => call.task === task?.id)
  const call = calls.find(({ id }) => id === callWanted) ?? calls.findLast(({ isOver }) => !isOver) ?? calls.at(-1)
  return (
    <>
      <label class="inline">
        <input type="checkbox" checked={isWhole} onChange={() => setWhole(!isWhole)} /> Whole charts
      </label>
      <OneChart name="task" value={taskValue(task)} isWhole={isWhole}>
        <Choice label="Task" items={tasks.map(taskName)} chosen={task?.id ?? ''} onChoose={setTask} />
      </OneChart>
      <OneChart name="call" value={callValue(call, shown)} isWhole={isWhole}>
        <Choice
          label="Call"
          items={calls.map(({ id, name }) => ({ id, name: `${name} ${shortId(id)}` }))}
          chosen={call?.id ?? ''}
          onChoose={setCall}
        />
      </OneChart>
      <OneChart name="session" value={shown?.session.value} isWhole={isWhole} />
    </>
  )
}

function isAtWork({ kind, state }: Task): boolean {
  return kind === 'foreground' && !['terminal', 'queued', 'blocked'].includes(state)
}

function taskName({ id, origin, state }: Task): { id: string; name: string } {
  return { id, name: `${origin} ${shortId(id)} (${state})` }
}

/** A task that has ended has no chart any more; its end is known. */
function taskValue(task: Task | undefined): unknown {
  if (task === undefined) return undefined
  return task.value ?? (task.status === undefined ? undefined : { terminal: task.status })
}

function callValue(call: CallRow | undefined, state: SessionState | null): unknown {
  if (call === undefined) return undefined
  return state?.calls.find(({ id }) => id === call.id)?.value ?? call.state
}

interface OneChartOf {
  readonly name: keyof typeof charts
  readonly value: unknown
  readonly isWhole: boolean
  readonly children?: preact.ComponentChildren
}

function OneChart({ name, value, isWhole, children }: OneChartOf) {
  const place = useRef<HTMLElement>(null)
  const marked = activeStates(name, value).join(' ')
  const active = useMemo(() => marked.split(' '), [marked])
  useEffect(() => {
    if (place.current !== null && !isWhole) showActive(place.current)
  }, [marked, isWhole])
  return (
    <section class="one-chart" aria-label={`Chart of the ${name}`}>
      <div class="chart-head">
        <h3>{name}</h3>
        {children}
        <output data-value={name}>{value === undefined ? 'none' : valueText(value)}</output>
      </div>
      <section
        class={isWhole ? 'chart-place' : 'chart-place chart-near'}
        ref={place}
        aria-label={`Drawing of the ${name} chart`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
        tabIndex={0}
      >
        <ChartDrawing
          svg={charts[name]}
          zoom={isWhole ? 0 : 1}
          active={active}
          took={nothingTaken}
          follows={false}
          onEvent={ignore}
        />
      </section>
    </section>
  )
}

/** Scrolls the drawing and nothing around it. */
function showActive(place: HTMLElement): void {
  const innermost = place.querySelector('.atomic.active, .final.active')
  if (innermost === null) return
  const state = innermost.getBoundingClientRect()
  const around = place.getBoundingClientRect()
  place.scrollBy({
    left: state.left + state.width / 2 - around.left - around.width / 2,
    top: state.top + state.height / 2 - around.top - around.height / 2,
  })
}

interface ChoiceOf {
  readonly label: string
  readonly items: readonly { readonly id: string; readonly name: string }[]
  readonly chosen: string
  readonly onChoose: (id: string) => void
}

function Choice({ label, items, chosen, onChoose }: ChoiceOf) {
  if (items.length === 0) return null
  return (
    <select aria-label={label} value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      {items.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}
