import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type InspectionEvent, toPromise, waitFor } from 'xstate'
import { memoryLog } from '../../src/index.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import type { CallActorRef, TaskActorRef } from '../../src/xstate/public.ts'
import { tempFolder } from '../log/temp-store.ts'
import { askTool, gate, heldTool, runtimeWith, scope } from './kit.ts'

const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('actors of sessions, tasks and calls', () => {
  it('show what is committed: a session with its task, and the call below it', async () => {
    const held = gate()
    const runtime = await runtimeWith({ everyTurn: askTool('look') }, { catalog: [heldTool('look', held)] })
    const session = runtime.session(scope)
    const { actor } = session
    expect(actor.getSnapshot()).toMatchObject({ status: 'active', value: 'unread', seq: 0 })
    await waitFor(actor, (view) => view.matches('unopened'))

    const turn = await session.start('Go.')
    await waitFor(turn.actor, (view) => view.matches({ running: 'acting' }))
    await waitFor(actor, (view) => view.matches({ lifecycle: 'open', foreground: 'active' }))
    expect(Object.keys(actor.getSnapshot().children)).toEqual([turn.id])
    expect(actor.system.get(turn.id)).toBe(turn.actor)
    const [call] = Object.values(turn.actor.getSnapshot().children) as CallActorRef[]
    expect(call?.getSnapshot().context).toMatchObject({ name: 'look', task: turn.id, effect: 'read' })
    expect(call?.getSnapshot().matches('started')).toBe(true)
    expect(actor.system.get(call?.id ?? '')).toBe(call)

    held.open()
    const done = await toPromise(turn.actor)
    const outcome = await turn.outcome()
    expect(done).toEqual({ status: 'completed', messageId: outcome.messageId, calls: outcome.calls, seq: outcome.seq })
    expect(call?.getSnapshot()).toMatchObject({ status: 'done', value: 'succeeded', output: { outcome: 'succeeded' } })
    await waitFor(actor, (view) => view.matches({ foreground: 'idle' }))
    expect(actor.getSnapshot().seq).toBe(outcome.seq)
  })

  it('never show a state whose facts are not in the log', async () => {
    const log = memoryLog()
    const runtime = await runtimeWith({ everyTurn: [{ text: 'a' }, { text: 'b' }] }, { log })
    const session = runtime.session(scope)
    const shown: Promise<void>[] = []
    const seqs: number[] = []
    session.actor.subscribe(({ seq }) => {
      seqs.push(seq)
      shown.push(log.head(scope).then((head) => expect(head?.seq ?? 0).toBeGreaterThanOrEqual(seq)))
    })
    for (const input of ['one', 'two', 'three']) await (await session.start(input)).outcome()
    const { seq } = (await log.head(scope)) ?? { seq: 0 }
    await waitFor(session.actor, (view) => view.seq === seq)
    await Promise.all(shown)
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
    // A step is one change: only ends of steps are shown.
    const ends = new Set((await log.read(scope, { limit: 500 })).map((step) => step.firstSeq + step.count - 1))
    for (const each of seqs) expect(each === 0 || ends.has(each)).toBe(true)
  })

  it('are there for what happened before somebody asked', async () => {
    const log = memoryLog()
    const first = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] }, { log })
    const turn = await first.session(scope).start('Go.')
    await turn.outcome()
    await first.close()
    const second = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] }, { log })
    const session = second.session(scope)
    const past = session.task(turn.id).actor
    expect(await toPromise(past)).toMatchObject({ status: 'completed' })
    expect(past.getSnapshot().matches({ terminal: 'completed' })).toBe(true)
    expect(past.getSnapshot().context.id).toBe(turn.id)
    await waitFor(session.actor, (view) => view.matches({ foreground: 'idle' }))
    expect(session.actor.getSnapshot().context.turns).toBe(1)
  })

  it('follow a session that another runtime works on', async () => {
    const file = join(tempFolder(), 'landfall.db')
    const held = gate()
    const tools = { catalog: [heldTool('look', held)] }
    const owner = await runtimeWith({ everyTurn: askTool('look') }, { ...tools, log: sqliteLog(file) })
    const watcher = await runtimeWith({ everyTurn: askTool('look') }, { ...tools, log: sqliteLog(file) })
    const { actor } = watcher.session(scope)
    await waitFor(actor, (view) => view.matches('unopened'))
    const turn = await owner.session(scope).start('Go.')
    const seen = watcher.session(scope).task(turn.id).actor
    await waitFor(seen, (view) => view.matches({ running: 'acting' }))
    // A command that is sent here reaches the owner through the store.
    seen.send({ type: 'steer', input: 'and be quick' })
    await waitFor(seen, ({ context }) => context.steering.length === 1)
    held.open()
    expect(await toPromise(seen)).toMatchObject({ status: 'completed' })
    expect((await turn.outcome()).message).toContain('and be quick')
  })

  it('a task that there never was is an error with its code', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
    await expect(toPromise(runtime.session(scope).task('nobody').actor)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('keep the reference between changes, as selectors need it', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
    const session = runtime.session(scope)
    await waitFor(session.actor, (view) => view.matches('unopened'))
    expect(session.actor.getSnapshot()).toBe(session.actor.getSnapshot())
    expect(session.actor).toBe(runtime.session(scope).actor)
    const turns: number[] = []
    const select = session.actor.select((view) => view.context.turns)
    select.subscribe((count) => turns.push(count))
    await (await session.start('Go.')).outcome()
    await waitFor(session.actor, (view) => view.context.turns === 1 && view.matches({ foreground: 'idle' }))
    expect(turns).toEqual([1])
    expect(select.get()).toBe(1)
  })

  it('cost nothing until they are asked for', async () => {
    const log = memoryLog()
    let reads = 0
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] }, { log: bound(log, () => reads++) })
    const session = runtime.session(scope)
    await (await session.start('One.')).outcome()
    const before = reads
    await (await session.start('Two.')).outcome()
    expect(reads).toBe(before)
    void session.actor
    await (await session.start('Three.')).outcome()
    await waitFor(session.actor, (view) => view.context.turns === 3)
    expect(reads).toBeGreaterThan(before)
  })
})

/** The log with every read counted. */
function bound<T extends object>(log: T, counted: () => void): T {
  return new Proxy(log, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...words: unknown[]) => {
        if (name === 'read') counted()
        return Reflect.apply(value, target, words) as unknown
      }
    },
  })
}

describe('commands that are sent to actors', () => {
  it('are carried out like those of the handle, and refusals are told', async () => {
    const held = gate()
    const runtime = await runtimeWith({ everyTurn: askTool('look') }, { catalog: [heldTool('look', held)] })
    const { actor } = runtime.session(scope)
    const notices: object[] = []
    actor.on('*', (notice) => notices.push(notice))
    actor.send({ type: 'start', input: 'Go.', commandId: 'first' })
    const view = await waitFor(actor, ({ children }) => Object.keys(children).length === 1)
    expect(notices).toMatchObject([{ type: 'command.accepted', command: 'start', receipt: { result: 'applied' } }])
    actor.send({ type: 'start', input: 'Once more.' })
    const [task] = Object.values(view.children) as TaskActorRef[]
    if (task === undefined) throw new Error('no task')
    await waitFor(task, (each) => each.matches({ running: 'acting' }))
    task.send({ type: 'steer', input: 'and be quick' })
    await waitFor(task, ({ context }) => context.steering.length === 1)
    task.send({ type: 'cancel', reason: 'enough' })
    expect(await toPromise(task)).toMatchObject({ status: 'cancelled' })
    expect(notices.at(-1)).toMatchObject({ type: 'command.refused', command: 'start', code: 'SESSION_BUSY' })
  })

  it('a call is confirmed through its own actor', async () => {
    const held = gate()
    held.open()
    const tool = { ...heldTool('change', held, 'mutate'), confirm: 'each' as const }
    const runtime = await runtimeWith({ everyTurn: askTool('change') }, { catalog: [tool] })
    const turn = await runtime.session(scope).start('Go.')
    const view = await waitFor(turn.actor, (each) => each.matches('paused'))
    const [call] = Object.values(view.children) as CallActorRef[]
    expect(call?.getSnapshot().matches('held')).toBe(true)
    call?.send({ type: 'confirm', decision: 'allow' })
    expect(await toPromise(turn.actor)).toMatchObject({ status: 'completed', calls: { succeededMutating: 1 } })
  })

  it('nobody can make an actor show what was not committed', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
    const { actor } = runtime.session(scope)
    await waitFor(actor, (view) => view.matches('unopened'))
    const before = actor.getSnapshot()
    const forged: unknown = { type: 'session.opened', seq: 1, facts: ['session.opened'], view: { value: 'x' } }
    actor.send(forged as { type: 'reopen' })
    await tick()
    expect(actor.getSnapshot()).toBe(before)
  })
})

describe('the actor system', () => {
  it('is inspected as a whole: actors, what moved them, and what they showed', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
    const seen: InspectionEvent[] = []
    runtime.actor.system.inspect((event) => seen.push(event))
    const session = runtime.session(scope)
    await waitFor(session.actor, (view) => view.matches('unopened'))
    const turn = await session.start('Go.')
    await toPromise(turn.actor)
    expect(turn.actor).toBe(turn.actor)
    const actors = seen.filter(({ type }) => type === '@xstate.actor').map(({ actorRef }) => actorRef)
    expect(actors).toContain(session.actor)
    expect(actors).toContain(turn.actor)
    const events = seen.flatMap((each) => (each.type === '@xstate.event' ? [each.event] : []))
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['task.created', 'model.completed']))
    expect(JSON.stringify(events)).not.toContain('Hello.')
    expect(seen.some((each) => each.type === '@xstate.snapshot' && each.actorRef === turn.actor)).toBe(true)
  })

  it.each(['a function', 'an observer'])(
    'is not disturbed by an inspector that throws (%s), which is told nothing more',
    async (form) => {
      const later = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => {})
      onTestFinished(() => later.mockRestore())
      const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
      const session = runtime.session(scope)
      let told = 0
      const broken = () => {
        told += 1
        throw new Error('of the host')
      }
      runtime.actor.system.inspect(form === 'a function' ? broken : { next: broken })
      const seen: InspectionEvent[] = []
      const { unsubscribe } = runtime.actor.system.inspect({ next: (event) => seen.push(event) })
      await waitFor(session.actor, (view) => view.matches('unopened'))
      const turn = await session.start('Go.')
      await toPromise(turn.actor)
      expect((await turn.outcome()).status).toBe('completed')
      expect(told).toBe(1)
      expect(later).toHaveBeenCalledTimes(1)
      expect(seen.length).toBeGreaterThan(10)
      unsubscribe()
      const before = seen.length
      await toPromise((await session.start('Again.')).actor)
      expect(seen.length).toBe(before)
    },
  )

  it('lets a session go when it is told to, and makes a new actor when asked again', async () => {
    const held = gate()
    const runtime = await runtimeWith({ everyTurn: askTool('look') }, { catalog: [heldTool('look', held)] })
    const session = runtime.session(scope)
    const turn = await session.start('Go.')
    await waitFor(turn.actor, (view) => view.matches({ running: 'acting' }))
    const [old, oldTask] = [session.actor, turn.actor]
    old.send({ type: 'actor.release' })
    expect([old.getSnapshot().status, oldTask.getSnapshot().status]).toEqual(['stopped', 'stopped'])
    held.open()
    expect((await turn.outcome()).status).toBe('completed')
    expect(session.actor).not.toBe(old)
    await waitFor(session.actor, (view) => view.matches({ foreground: 'idle' }))
    expect(oldTask.getSnapshot().matches({ running: 'acting' })).toBe(true)
  })

  it('stops with the runtime, and is not begun by one that is closed', async () => {
    const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
    const { actor } = runtime.session(scope)
    await waitFor(actor, (view) => view.matches('unopened'))
    await runtime.close()
    expect(actor.getSnapshot().status).toBe('stopped')
    const other = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
    await other.close()
    expect(() => other.session(scope).actor).toThrow(expect.objectContaining({ code: 'SHUTTING_DOWN' }))
  })
})
