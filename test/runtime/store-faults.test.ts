import { describe, expect, it } from 'vitest'
import { LandfallError } from '../../src/facts/errors.ts'
import type { Log } from '../../src/facts/log-port.ts'
import { checkAll, refusal } from './kit/check.ts'
import { openRig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, pay: { effect: 'mutate' } } as const
type Fault = 'before' | 'after' | 'full'

/** Appends that are to fail, in order: not done, done but not confirmed, or refused for lack of room. */
function faulty(faults: Fault[]): (log: Log) => Log {
  return (log) => {
    const append: Log['append'] = async (steps) => {
      const fault = faults.shift()
      if (fault === 'before') throw new Error('the connection broke')
      if (fault === 'full') {
        const error = new LandfallError('STORE_FULL', 'No room. Make some.', { retryable: true })
        return steps.map(() => ({ ok: false, error }))
      }
      const results = await log.append(steps)
      if (fault === 'after') throw new Error('the connection broke')
      return results
    }
    return new Proxy(log, { get: (target, name) => (name === 'append' ? append : Reflect.get(target, name)) })
  }
}

describe('a store that fails', () => {
  it('before and after the commit is asked again, and every step is there once', async () => {
    const faults: Fault[] = []
    const rig = await openRig({ tools, store: faulty(faults) })
    faults.push('before', 'after')
    const handle = await rig.session.start('look')
    faults.push('after')
    ;(await rig.model.next()).calls(['look'])
    const look = await rig.tool('look').next()
    faults.push('before', 'before')
    look.returns('seen')
    const request = await rig.model.next()
    faults.push('after')
    request.text('done')
    expect((await handle.outcome()).status).toBe('completed')
    expect(await rig.stepCount()).toBe(4)
    await checkAll(rig)
  })

  it('for long keeps what it was to record until it answers again', async () => {
    const faults: Fault[] = []
    const rig = await openRig({ tools, store: faulty(faults) })
    await rig.session.start('pay')
    ;(await rig.model.next()).calls(['pay'])
    const pay = await rig.tool('pay').next()
    for (let times = 0; times < 10; times += 1) faults.push('before')
    pay.returns('paid')
    await rig.time.advance(10_000)
    for (let times = 0; times < 9; times += 1) faults.push('before')
    ;(await rig.model.next()).text('paid once')
    await rig.time.advance(10_000)
    expect(rig.tool('pay').calls.length).toBe(1)
    expect((await rig.session.tasks())[0]).toMatchObject({ status: 'completed' })
    await checkAll(rig)
  })

  it('for lack of room keeps results until there is room, and tells operators', async () => {
    const faults: Fault[] = []
    const rig = await openRig({ tools, store: faulty(faults) })
    await rig.session.start('pay')
    ;(await rig.model.next()).calls(['pay'])
    const pay = await rig.tool('pay').next()
    faults.push('full', 'full', 'full')
    pay.returns('paid')
    await rig.time.settle()
    expect(await rig.stepCount()).toBe(2)
    expect((await refusal(rig.session.steer('are you there?'))).code).toBe('STORE_FULL')
    expect((await refusal(rig.session.steer('are you there?'))).code).toBe('STORE_FULL')
    await rig.time.advance(5_000)
    ;(await rig.model.next()).text('paid once')
    await rig.time.settle()
    expect(rig.tool('pay').calls.length).toBe(1)
    expect((await rig.session.tasks())[0]?.status).toBe('completed')
    await checkAll(rig)
  })

  it('keeps what a model said until there is room', async () => {
    const faults: Fault[] = []
    const rig = await openRig({ tools, store: faulty(faults) })
    await rig.session.start('say something')
    const request = await rig.model.next()
    faults.push('full')
    request.text('something')
    await rig.time.advance(5_000)
    expect((await rig.session.tasks())[0]?.status).toBe('completed')
    expect(rig.model.asked.length).toBe(1)
    await checkAll(rig)
  })

  it('leaves no trace of a command that it did not take', async () => {
    const faults: Fault[] = []
    const rig = await openRig({ store: faulty(faults) })
    faults.push('full')
    expect((await refusal(rig.session.start('first try', { commandId: 'c' }))).code).toBe('STORE_FULL')
    expect((await rig.session.start('first try', { commandId: 'c' })).receipt).toMatchObject({
      result: 'applied',
      seq: 1,
    })
    ;(await rig.model.next()).text('fine')
    await rig.time.settle()
    await checkAll(rig)
  })
})

describe('what is too large', () => {
  it('is an error of the call that gave it, and the turn goes on', async () => {
    const rig = await openRig({ tools, limits: { contentBytes: 4_096 } })
    await rig.session.start('look')
    ;(await rig.model.next()).calls(['look'])
    ;(await rig.tool('look').next()).returns('x'.repeat(5_000))
    const request = await rig.model.next()
    expect(request.lastMessage?.content.length).toBeLessThan(4_096)
    request.text('too much to see')
    await rig.time.settle()
    const finished = (await rig.facts()).find((fact) => fact.type === 'call.finished')
    expect(finished?.data).toMatchObject({ outcome: 'failed', code: 'OUTPUT_LIMIT' })
    await checkAll(rig)
  })

  it('or no JSON, from a tool that changes things, is told as the success that it was, so that nobody tries again', async () => {
    const rig = await openRig({ tools, limits: { contentBytes: 4_096 } })
    await rig.session.start('pay')
    ;(await rig.model.next()).calls(['pay', { id: '1' }], ['pay', { id: '2' }])
    ;(await rig.tool('pay').next()).returns('x'.repeat(5_000))
    ;(await rig.tool('pay').next()).returns(10n)
    const request = await rig.model.next()
    const told = request.request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
    expect(told).toEqual([expect.stringContaining('OUTPUT_LIMIT'), expect.stringContaining('OUTPUT_INVALID')])
    for (const text of told) expect(text).toContain('succeeded')
    request.text('paid twice, as asked')
    await rig.time.settle()
    const finished = (await rig.facts()).filter((fact) => fact.type === 'call.finished')
    expect(finished.map(({ data }) => data)).toMatchObject([{ outcome: 'succeeded' }, { outcome: 'succeeded' }])
    await checkAll(rig)
  })

  it('is refused when an operator says it', async () => {
    const rig = await openRig({ limits: { contentBytes: 4_096 } })
    const { code, details } = await refusal(rig.session.start('x'.repeat(5_000)))
    expect([code, details]).toMatchObject(['LIMIT_EXCEEDED', { which: 'contentBytes', bound: 4_096, got: 5_000 }])
    expect(await rig.facts()).toEqual([])
  })

  it('ends the turn when one answer asks for more calls than a step can hold', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('ask for everything')
    const calls = Array.from({ length: 1_200 }, (_, index) => ['look', { id: String(index) }] as const)
    ;(await rig.model.next()).calls(...calls)
    await rig.time.advance(600_000)
    expect((await rig.session.tasks())[0]?.status).toBe('failed')
    expect(rig.tool('look').calls).toEqual([])
    await checkAll(rig)
  })

  it('is cut where it is only a reason, and credentials are taken out of it', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('begin')
    const credential = `ghp_${'a1B2'.repeat(9)}`
    await rig.session.cancel({ reason: `because of ${credential} ${'and so on '.repeat(50)}` }).catch(() => undefined)
    const text = JSON.stringify(await rig.facts())
    expect(text).not.toContain(credential)
    for (const fact of await rig.facts())
      if (fact.type === 'task.cancelling') expect(fact.data.reason.length).toBeLessThanOrEqual(200)
    await rig.session.cancel({ task: handle.id })
    await checkAll(rig)
  })
})
