import { expect, it } from 'vitest'
import { toPromise, waitFor } from 'xstate'
import type { Log } from '../../src/facts/log-port.ts'
import { memoryLog } from '../../src/index.ts'
import { runtimeWith, scope } from './kit.ts'

const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A log whose reads are answered late, or not at all, with what they found when they were asked. */
function badLog(how: { late: boolean; broken: boolean }): Log {
  const log = memoryLog()
  const read: Log['read'] = async (...asked) => {
    if (how.broken) throw new Error('the disk is gone')
    const steps = await log.read(...asked)
    for (let turns = how.late ? 20 : 0; turns > 0; turns -= 1) await tick()
    return steps
  }
  return new Proxy(log, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (name === 'read') return read
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

it('a task that is durable is found, however long the log takes', async () => {
  const how = { late: false, broken: false }
  const runtime = await runtimeWith({ everyTurn: [{ text: 'Good.' }] }, { log: badLog(how) })
  const session = runtime.session(scope)
  await waitFor(session.actor, (view) => view.matches('unopened'))
  how.late = true
  for (const input of ['one', 'two', 'three', 'four', 'five']) {
    const turn = await session.start(input)
    expect(await toPromise(turn.actor)).toMatchObject({ status: 'completed' })
  }
})

it('a session that cannot be followed fails with its tasks, and is followed again when somebody asks again', async () => {
  const how = { late: false, broken: false }
  const runtime = await runtimeWith({ everyTurn: [{ hang: true }] }, { log: badLog(how) })
  const session = runtime.session(scope)
  const turn = await session.start('Wait.')
  const { actor } = session
  const ofTask = turn.actor
  await waitFor(ofTask, (view) => view.matches('running'))
  const heard: unknown[] = []
  actor.subscribe({ error: (error) => heard.push(error) })
  ofTask.subscribe({ error: (error) => heard.push(error) })
  how.broken = true
  await session.steer('More.')
  await expect(toPromise(actor)).rejects.toThrow('the disk is gone')
  expect(heard).toHaveLength(2)
  expect(ofTask.getSnapshot().status).toBe('error')

  how.broken = false
  expect(session.actor).not.toBe(actor)
  await waitFor(session.actor, (view) => view.matches({ foreground: 'active' }))
  await session.cancel()
  expect(await toPromise(turn.actor)).toMatchObject({ status: 'cancelled' })
})

it('a session that was erased is done, with its tasks, for everybody who asks later', async () => {
  const runtime = await runtimeWith({ everyTurn: [{ text: 'Good.' }] })
  const session = runtime.session(scope)
  const turn = await session.start('Hello.')
  await turn.outcome()
  const { actor } = session
  await waitFor(actor, (view) => view.matches({ foreground: 'idle' }))
  await session.erase()
  await toPromise(actor)
  expect(Object.keys(runtime.actor.getSnapshot().children)).toEqual([])
  expect(actor.getSnapshot().matches({ lifecycle: 'erased' })).toBe(true)
  await toPromise(session.actor)
  expect(await toPromise(turn.actor)).toMatchObject({ status: 'completed' })
  await waitFor(runtime.actor, ({ children }) => Object.keys(children).length === 0)
})

it('a runtime that is closed makes no actors any more', async () => {
  const runtime = await runtimeWith({ everyTurn: [{ text: 'Good.' }] })
  const { actor } = runtime.session(scope)
  await waitFor(actor, (view) => view.matches('unopened'))
  await runtime.close()
  expect(actor.getSnapshot().status).toBe('stopped')
  expect(() => runtime.session({ ...scope, session: 'other' }).actor).toThrow(
    expect.objectContaining({ code: 'SHUTTING_DOWN' }),
  )
})
