import { useActor, useActorRef, useSelector } from '@xstate/react'
import { parseHTML } from 'linkedom'
import { createElement, type FunctionComponent, StrictMode } from 'react'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type AnyActorRef, type Snapshot, sendTo, setup, waitFor } from 'xstate'
import type { Runtime, TaskHandle } from '../../src/index.ts'
import { type TaskInput, type TaskLogicOptions, type TaskLogicSnapshot, taskLogic } from '../../src/xstate/public.ts'
import { askTool, gate, heldTool, runtimeWith, scope } from './kit.ts'

vi.setConfig({ testTimeout: 60_000 })
const input: TaskInput = { scope, input: 'One tea, please.' }
const patience = { timeout: 30_000 }

/** Actors live where the runtime lives, so React works on a document in the same process, as in a desktop application. */
const { window } = parseHTML('<!doctype html><html><body></body></html>')
const globals = { window, document: window.document, navigator: { userAgent: 'test' } }

interface Shown {
  readonly text: () => string
  readonly unmount: () => void
}

/** Shows a component until the test ends, in strict mode where that is asked for: then React mounts everything twice. */
async function show(component: FunctionComponent, { strict = false } = {}): Promise<Shown> {
  const { createRoot } = await import('react-dom/client')
  const place = window.document.createElement('div')
  const root = createRoot(place as never)
  const unmount = () => root.unmount()
  onTestFinished(unmount)
  const element = createElement(component)
  root.render(strict ? createElement(StrictMode, null, element) : element)
  return { text: () => place.textContent ?? '', unmount }
}

const sees = (shown: Shown, text: string) => expect.poll(shown.text, patience).toBe(text)
const tasksOf = async (runtime: Runtime) =>
  (await runtime.session(scope).log()).flatMap(({ type, task }) => (type === 'task.created' ? [task ?? ''] : []))

/** A runtime whose turns wait for the test, and the task that is begun in it. */
async function held() {
  const { open, opened } = gate()
  const runtime = await runtimeWith({ everyTurn: askTool('look') }, { catalog: [heldTool('look', { open, opened })] })
  return { runtime, open }
}

async function onlyTask(runtime: Runtime): Promise<TaskHandle> {
  const view = await waitFor(runtime.session(scope).actor, ({ children }) => Object.keys(children).length > 0)
  const [id = ''] = Object.keys(view.children)
  const handle = runtime.session(scope).task(id)
  await waitFor(handle.actor, (task) => task.matches({ running: 'acting' }))
  return handle
}

const isLiving = (actor: AnyActorRef) => (actor.getSnapshot() as Snapshot<unknown>).status === 'active'

const words = ({ status, output, context }: TaskLogicSnapshot) =>
  `${status} ${context.task === null ? 'asked' : 'begun'} ${output?.message ?? ''}`

beforeAll(() => {
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
})
// React still looks for its window in what it has left to do.
afterAll(() => new Promise<void>((resolve) => setImmediate(resolve)).then(() => void vi.unstubAllGlobals()))

describe('a durable task in a component', () => {
  const turn = (runtime: Runtime, options?: TaskLogicOptions) => {
    const logic = taskLogic(runtime, options)
    const sent: { say: (text: string) => void } = { say: () => {} }
    const shown: string[] = []
    const component = () => {
      const [snapshot, send] = useActor(logic, { input })
      sent.say = (text) => send({ type: 'steer', input: text })
      shown.push(words(snapshot))
      return shown.at(-1)
    }
    return { component, sent, shown }
  }

  it('shows its status as it moves, is steered, and shows its outcome', async () => {
    const { runtime, open } = await held()
    const { component, sent, shown } = turn(runtime)
    const place = await show(component)
    const task = await onlyTask(runtime)
    sent.say('with milk')
    await waitFor(task.actor, ({ context }) => context.steering.length === 1)
    open()
    await sees(place, 'done begun Done: opened with milk')
    expect([...new Set(shown)]).toEqual(['active asked ', 'active begun ', 'done begun Done: opened with milk'])
    expect(await tasksOf(runtime)).toEqual([task.id])
  })

  it('is cancelled when the component goes, and left alone where that was asked for', async () => {
    for (const onStop of ['cancel', 'detach'] as const) {
      const { runtime, open } = await held()
      const shown = await show(turn(runtime, { onStop }).component)
      const task = await onlyTask(runtime)
      shown.unmount()
      if (onStop === 'detach') open()
      expect((await task.outcome()).status).toBe(onStop === 'cancel' ? 'cancelled' : 'completed')
    }
  })

  it.each(['cancel', 'detach'] as const)('is one task that goes on in strict mode (%s)', async (onStop) => {
    const { runtime, open } = await held()
    const shown = await show(turn(runtime, { onStop }).component, { strict: true })
    const task = await onlyTask(runtime)
    await sees(shown, 'active begun ')
    open()
    await sees(shown, 'done begun Done: opened ')
    expect(await tasksOf(runtime)).toEqual([task.id])
    expect((await task.outcome()).status).toBe('completed')
  })

  it('below a chart of the host is steered through the chart, also in strict mode', async () => {
    const { runtime, open } = await held()
    const host = setup({
      types: { events: {} as { type: 'SAY'; text: string } },
      actors: { work: taskLogic(runtime) },
    }).createMachine({
      initial: 'working',
      states: {
        working: {
          invoke: { id: 'work', src: 'work', input, onDone: 'served' },
          on: { SAY: { actions: sendTo('work', ({ event }) => ({ type: 'steer', input: event.text })) } },
        },
        served: { type: 'final' },
      },
    })
    let say = (_text: string): void => {}
    const component = () => {
      const ref = useActorRef(host)
      say = (text) => ref.send({ type: 'SAY', text })
      return useSelector(ref, (snapshot) => snapshot.value)
    }
    const shown = await show(component, { strict: true })
    const task = await onlyTask(runtime)
    expect(shown.text()).toBe('working')
    say('with milk')
    await waitFor(task.actor, ({ context }) => context.steering.length === 1)
    open()
    await sees(shown, 'served')
    expect((await task.outcome()).message).toContain('with milk')
    expect(await tasksOf(runtime)).toEqual([task.id])
  })

  it('that was refused breaks its component with the code', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
    const logic = taskLogic(runtime)
    const component = () => {
      const ref = useActorRef(logic, { input: { scope, input: ' ' } })
      return useSelector(ref, ({ status, error }) => `${status} ${(error as { code?: string })?.code ?? ''}`)
    }
    const codes: unknown[] = []
    const { createRoot } = await import('react-dom/client')
    const place = window.document.createElement('div')
    const root = createRoot(place as never, {
      onUncaughtError: (error) => codes.push((error as { code?: string }).code),
    })
    onTestFinished(() => root.unmount())
    root.render(createElement(component))
    await expect.poll(() => codes, patience).toEqual(['INVALID_INPUT'])
  })
})

describe('the actors of a session in a component', () => {
  it('show what is committed to selectors, and take what is sent to them', async () => {
    const { runtime, open } = await held()
    const session = runtime.session(scope)
    let renders = 0
    const component = () => {
      renders += 1
      const turns = useSelector(session.actor, ({ context }) => context.turns)
      const tasks = useSelector(session.actor, ({ children }) => Object.values(children).filter(isLiving).length)
      return `${turns} turns, ${tasks} living`
    }
    const shown = await show(component, { strict: true })
    await sees(shown, '0 turns, 0 living')
    session.actor.send({ type: 'start', input: 'Go.' })
    await sees(shown, '1 turns, 1 living')
    const task = await onlyTask(runtime)

    const ofTask = () => {
      const value = useSelector(task.actor, (view) => JSON.stringify(view.value))
      const said = useSelector(task.actor, ({ context }) => context.steering.length)
      return `${value} ${said}`
    }
    const second = await show(ofTask, { strict: true })
    await sees(second, '{"running":"acting"} 0')
    task.actor.send({ type: 'steer', input: 'and be quick' })
    await sees(second, '{"running":"acting"} 1')
    open()
    await sees(second, '{"terminal":"completed"} 0')
    await sees(shown, '1 turns, 0 living')
    expect(renders, 'selectors keep a component from what does not concern it').toBeLessThan(20)
  })

  it('go on when the component that watched them goes', async () => {
    const { runtime, open } = await held()
    const { actor } = runtime.session(scope)
    const shown = await show(() => useSelector(actor, (view) => view.status), { strict: true })
    actor.send({ type: 'start', input: 'Go.' })
    const task = await onlyTask(runtime)
    shown.unmount()
    open()
    expect((await task.outcome()).status).toBe('completed')
    expect(actor.getSnapshot().status).toBe('active')
  })
})
