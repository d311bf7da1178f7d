import { describe, expect, it } from 'vitest'
import { assign, createActor, sendTo, setup, toPromise, waitFor } from 'xstate'
import { memoryLog, type Outcome, type Runtime } from '../../src/index.ts'
import {
  type StatelyMessage,
  statelyMessages,
  type TaskInput,
  type TaskLogicOptions,
  taskLogic,
} from '../../src/xstate/public.ts'
import { askTool, gate, heldTool, runtimeWith, scope } from './kit.ts'

/** The event that begins a chart carries what `createActor` was given. */
function inputOf(event: object): TaskInput {
  return (event as { input: TaskInput }).input
}

/** A host chart that invokes a durable task, can steer it, and leaves the state when it is told to. */
function hostChart(runtime: Runtime, options: TaskLogicOptions = {}) {
  return setup({
    types: {
      context: {} as { outcome: Outcome | null; code: string | null },
      events: {} as { type: 'SAY'; text: string } | { type: 'LEAVE' },
      input: {} as TaskInput,
    },
    actors: { work: taskLogic(runtime, options) },
  }).createMachine({
    id: 'host',
    context: { outcome: null, code: null },
    initial: 'working',
    states: {
      working: {
        invoke: {
          id: 'work',
          src: 'work',
          input: ({ event }) => inputOf(event),
          onDone: { target: 'done', actions: assign({ outcome: ({ event }) => event.output }) },
          onError: {
            target: 'refused',
            actions: assign({ code: ({ event }) => (event.error as { code: string }).code }),
          },
        },
        on: {
          SAY: { actions: sendTo('work', ({ event }) => ({ type: 'steer', input: event.text })) },
          LEAVE: 'left',
        },
      },
      done: { type: 'final' },
      refused: { type: 'final' },
      left: {},
    },
  })
}

const input: TaskInput = { scope, input: 'One tea, please.' }
const started = async (runtime: Runtime) =>
  (await runtime.session(scope).log()).filter(({ type }) => type === 'task.created').length

describe('a durable task that a chart invokes', () => {
  it('is started by its input and done with the outcome', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'You said {{input}}' }] })
    const host = createActor(hostChart(runtime), { input }).start()
    await toPromise(host)
    expect(host.getSnapshot().context.outcome).toMatchObject({
      status: 'completed',
      message: 'You said One tea, please.',
    })
  })

  it('is steered by what is sent to it, also before its start is durable', async () => {
    const held = gate()
    const runtime = await runtimeWith({ everyTurn: askTool('look') }, { catalog: [heldTool('look', held)] })
    const host = createActor(hostChart(runtime), { input }).start()
    host.send({ type: 'SAY', text: 'with milk' })
    host.send({ type: 'SAY', text: 'no sugar' })
    const work = host.getSnapshot().children.work
    const task = await taskOf(runtime)
    await waitFor(runtime.session(scope).task(task).actor, ({ context }) => context.steering.length === 2)
    held.open()
    await toPromise(host)
    expect(host.getSnapshot().context.outcome?.message).toMatch(/with milk\s+no sugar/)
    expect(work?.getSnapshot()).toMatchObject({ context: { task, wanted: null } })
  })

  it('a status that is not completed is an outcome, and a refusal is an error with its code', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ error: { code: 'QUOTA', retryable: false } }] })
    const host = createActor(hostChart(runtime), { input }).start()
    await toPromise(host)
    expect(host.getSnapshot().context.outcome).toMatchObject({ status: 'failed' })
    const empty = createActor(hostChart(runtime), { input: { scope, input: ' ' } }).start()
    await toPromise(empty)
    expect(empty.getSnapshot()).toMatchObject({ value: 'refused', context: { code: 'INVALID_INPUT' } })
  })

  it('is cancelled when the chart leaves, and left alone where that was asked for', async () => {
    for (const onStop of ['cancel', 'detach'] as const) {
      const held = gate()
      const runtime = await runtimeWith({ everyTurn: askTool('look') }, { catalog: [heldTool('look', held)] })
      const host = createActor(hostChart(runtime, { onStop }), { input }).start()
      const turn = runtime.session(scope).task(await taskOf(runtime))
      await waitFor(turn.actor, (view) => view.matches({ running: 'acting' }))
      host.send({ type: 'LEAVE' })
      if (onStop === 'detach') held.open()
      expect((await turn.outcome()).status).toBe(onStop === 'cancel' ? 'cancelled' : 'completed')
      expect(host.getSnapshot().value).toBe('left')
    }
  })

  it('is cancelled also when the chart leaves before the start is durable', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ hang: true }] })
    const host = createActor(hostChart(runtime), { input }).start()
    host.send({ type: 'LEAVE' })
    const task = await taskOf(runtime)
    expect((await runtime.session(scope).task(task).outcome()).status).toBe('cancelled')
  })

  it('can be spawned, several at once, each its own task', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Turn {{turn}}: {{input}}' }] })
    const logic = taskLogic(runtime)
    const asked = ['first', 'second', 'third'].map((text) =>
      createActor(logic, { input: { scope, input: text, command: 'followUp' } }).start(),
    )
    const outcomes = await Promise.all(asked.map((actor) => toPromise(actor)))
    expect(outcomes.map(({ message }) => message)).toEqual(['Turn 0: first', 'Turn 1: second', 'Turn 2: third'])
  })

  it('the same input is the same task, another command id another one', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Turn {{turn}}' }] })
    const logic = taskLogic(runtime)
    const run = (more: Partial<TaskInput> = {}) =>
      toPromise(createActor(logic, { input: { ...input, ...more } }).start())
    const [first, second] = [await run(), await run()]
    expect(second).toEqual(first)
    expect(await started(runtime)).toBe(1)
    expect((await run({ commandId: 'another' })).message).toBe('Turn 1')
  })
})

/** The task that the host's start has led to, once it is there. */
async function taskOf(runtime: Runtime): Promise<string> {
  const view = await waitFor(runtime.session(scope).actor, ({ children }) => Object.keys(children).length > 0)
  return Object.keys(view.children)[0] ?? ''
}

describe('what a chart in JavaScript may give', () => {
  const circle: Record<string, unknown> = { scope, input: 'x' }
  circle.settings = { circle }

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['no scope', {}],
    ['a number without JSON', { scope, input: 'x', settings: { count: 1n } }],
    ['a function', { scope, input: () => 'x' }],
    ['a circle', circle],
    ['a command that begins nothing', { scope, input: { cancel: true }, command: 'erase' }],
    ['the name of a method of every object', { scope, input: 'x', command: 'toString' }],
  ])('%s is refused with a code, and nothing is started', async (_what, given) => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
    const host = createActor(hostChart(runtime), { input: given as TaskInput }).start()
    await toPromise(host)
    expect(host.getSnapshot()).toMatchObject({ value: 'refused', context: { code: 'INVALID_INPUT' } })
    expect(await started(runtime)).toBe(0)
  })

  it('what was sent to a task is answered before the task is told to have ended', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ hang: true }] })
    const work = createActor(taskLogic(runtime), { input })
    const heard: string[] = []
    work.on('*', (notice) => heard.push(`${notice.command} ${'code' in notice ? notice.code : notice.receipt.result}`))
    work.start()
    work.send({ type: 'steer', input: 'Quickly.' })
    work.send({ type: 'cancel' })
    work.send({ type: 'steer', input: 'Too late.' })
    expect(await toPromise(work)).toMatchObject({ status: 'cancelled' })
    expect(heard).toEqual(['steer queued', 'cancel applied', 'steer TASK_NOT_ACTIVE'])
  })
})

describe('a host chart that is restored', () => {
  it('joins the same task again, in another runtime on the same store', async () => {
    const log = memoryLog()
    const held = gate()
    const first = await runtimeWith({ everyTurn: askTool('look') }, { log, catalog: [heldTool('look', held)] })
    const host = createActor(hostChart(first), { input }).start()
    const task = await taskOf(first)
    await waitFor(first.session(scope).task(task).actor, (view) => view.matches({ running: 'acting' }))
    await first.close()
    expect(host.getSnapshot().status, 'a runtime that closes ends nothing').toBe('active')
    const kept = JSON.stringify(host.getPersistedSnapshot())
    expect(kept).not.toContain('One tea')

    held.open()
    const second = await runtimeWith({ everyTurn: askTool('look') }, { log, catalog: [heldTool('look', held)] })
    const restored = createActor(hostChart(second), { input, snapshot: JSON.parse(kept) }).start()
    await toPromise(restored)
    expect(restored.getSnapshot().context.outcome).toMatchObject({ status: 'completed' })
    expect(await started(second)).toBe(1)
  })

  it('starts what was not started yet once, also when it was started after the snapshot', async () => {
    const log = memoryLog()
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Turn {{turn}}' }] }, { log })
    const host = createActor(hostChart(runtime), { input }).start()
    const early = JSON.parse(JSON.stringify(host.getPersistedSnapshot())) as never
    await toPromise(host)
    const again = createActor(hostChart(runtime), { input, snapshot: early }).start()
    await toPromise(again)
    expect(again.getSnapshot().context.outcome).toEqual(host.getSnapshot().context.outcome)
    expect(await started(runtime)).toBe(1)
  })

  it('that had ended is as it was, and its error can be read', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
    const logic = taskLogic(runtime)
    const failed = createActor(logic, { input: { scope, input: '' } })
    failed.subscribe({ error: () => {} })
    failed.start()
    await expect(toPromise(failed)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    const kept = JSON.parse(JSON.stringify(failed.getPersistedSnapshot()))
    expect(kept).toMatchObject({ status: 'error', error: { code: 'INVALID_INPUT' } })
  })
})

describe('the messages of the Stately inspector', () => {
  it('tell actors, events and snapshots as plain JSON, beginning with what is there', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
    const session = runtime.session(scope)
    await waitFor(session.actor, (view) => view.matches('unopened'))
    const messages: StatelyMessage[] = []
    const end = statelyMessages(runtime.actor, (message) => messages.push(message))
    const turn = await session.start('A secret wish.')
    await toPromise(turn.actor)
    end()
    const count = messages.length
    await (await session.start('Unseen.')).outcome()
    expect(messages).toHaveLength(count)

    expect(JSON.parse(JSON.stringify(messages))).toEqual(
      messages.map((each) => JSON.parse(JSON.stringify(each)) as unknown),
    )
    const actors = messages.filter((each) => each.type === '@xstate.actor')
    expect(actors.map(({ name }) => name)).toEqual(['landfall', session.actor.id, turn.id])
    const [root, ofSession, ofTask] = actors
    expect([root?.parentId, ofSession?.parentId, ofTask?.parentId]).toEqual([
      undefined,
      runtime.actor.sessionId,
      session.actor.sessionId,
    ])
    expect(JSON.parse(ofTask?.definition ?? '')).toMatchObject({ id: 'task', initial: 'pending' })
    for (const message of messages) {
      expect(message.rootId).toBe(runtime.actor.sessionId)
      expect(message.createdAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
      expect(Object.keys(message)).toEqual(expect.arrayContaining(['id', 'sessionId', '_version', 'type']))
    }
    const snapshots = messages.filter((each) => each.type === '@xstate.snapshot')
    expect(snapshots.at(-1)?.snapshot).toMatchObject({ status: expect.any(String), value: expect.anything() })
    expect(JSON.stringify(messages)).not.toContain('secret wish')
  })

  it('tell the charts of a host that invokes a task, too', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
    const host = createActor(hostChart(runtime), { input })
    const messages: StatelyMessage[] = []
    statelyMessages(host, (message) => messages.push(message))
    await toPromise(host.start())
    const names = messages.flatMap((each) => (each.type === '@xstate.actor' ? [each.name] : []))
    expect(names).toContain('work')
    expect(
      messages.some(
        (each) => each.type === '@xstate.event' && 'type' in each.event && each.event.type === 'landfall.outcome',
      ),
    ).toBe(true)
  })
})
