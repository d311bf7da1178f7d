import { describe, expect, it } from 'vitest'
import { checkAll } from './kit/check.ts'
import { openRig, type Rig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, pay: { effect: 'mutate' }, put: { effect: 'idempotent' } } as const

async function acting(rig: Rig, ...calls: (readonly [string, unknown?])[]) {
  const handle = await rig.session.start('do something for me')
  ;(await rig.model.next()).calls(...calls)
  await rig.time.settle()
  return handle
}

async function callEnds(rig: Rig): Promise<string[]> {
  const lines = (await rig.steps()).join(' · ').split(' · ')
  return lines.filter((line) => /^call\.(finished|cancelled|unknown|refused|verified|late)/.test(line))
}

describe("a tool's own cancel", () => {
  const hooks = {
    acknowledges: { cancel: async () => 'acknowledged', end: 'call.cancelled C1 {acknowledged}' },
    'does not know': { cancel: async () => 'unknown', end: 'call.unknown C1 {grace}' },
    hangs: { cancel: () => new Promise<never>(() => {}), end: 'call.unknown C1 {grace}' },
    throws: { cancel: () => Promise.reject(new Error('no')), end: 'call.unknown C1 {grace}' },
    'throws at once': {
      cancel: () => {
        throw new Error('no')
      },
      end: 'call.unknown C1 {grace}',
    },
    'says nonsense': { cancel: async () => 'perhaps', end: 'call.unknown C1 {grace}' },
  } as const
  for (const [what, { cancel, end }] of Object.entries(hooks))
    it(`is asked once and does no harm when it ${what}`, async () => {
      const asked: string[] = []
      const hook = (call: string) => {
        asked.push(call)
        return cancel() as Promise<'acknowledged' | 'unknown'>
      }
      const rig = await openRig({ tools: { pay: { effect: 'mutate', cancel: hook } } })
      const handle = await acting(rig, ['pay'])
      const call = await rig.tool('pay').next()
      await rig.session.cancel()
      await rig.time.advance(10_000)
      expect((await handle.outcome()).status).toBe('cancelled')
      expect(await callEnds(rig)).toEqual([end])
      expect(asked).toEqual([call.id])
      call.returns('very late')
      await rig.time.settle()
      await checkAll(rig)
    })
})

describe('a probe', () => {
  it('is asked after the grace, extends it, and settles the call', async () => {
    for (const said of ['succeeded', 'failed', 'unknown'] as const) {
      let answer: (said: 'succeeded' | 'failed' | 'unknown') => void = () => {}
      const verify = () => new Promise<'succeeded' | 'failed' | 'unknown'>((resolve) => (answer = resolve))
      const rig = await openRig({ tools: { pay: { effect: 'mutate', verify } } })
      const handle = await acting(rig, ['pay'])
      await rig.session.cancel()
      await rig.time.advance(10_000)
      expect((await rig.session.tasks())[0]?.state).toBe('quiescing')
      await rig.time.advance(4_999)
      answer(said)
      const ends = {
        succeeded: ['call.verified C1 {succeeded}', 'call.finished C1'],
        failed: ['call.verified C1 {failed}', expect.stringMatching(/^call.finished C1 \{failed/)],
        unknown: ['call.verified C1 {unknown}', 'call.unknown C1 {grace}'],
      }
      await rig.time.settle()
      expect(await callEnds(rig)).toEqual(ends[said])
      expect((await handle.outcome()).status).toBe('cancelled')
      expect((await rig.session.state()).quarantined.length).toBe(said === 'unknown' ? 1 : 0)
      await checkAll(rig)
    }
  })

  it('is given up after five seconds, and what it says then changes nothing', async () => {
    let answer: (said: 'succeeded') => void = () => {}
    const verify = () => new Promise<'succeeded'>((resolve) => (answer = resolve))
    const rig = await openRig({ tools: { pay: { effect: 'mutate', verify } }, limits: { graceMs: 0 } })
    const handle = await acting(rig, ['pay'])
    await rig.session.cancel()
    await rig.time.advance(5_000)
    expect((await handle.outcome()).calls.unknownMutating).toBe(1)
    const before = await rig.stepCount()
    answer('succeeded')
    await rig.time.settle()
    expect(await rig.stepCount()).toBe(before)
    await checkAll(rig)
  })

  it('is overtaken by the result itself', async () => {
    const verify = () => new Promise<'succeeded'>(() => {})
    const rig = await openRig({ tools: { pay: { effect: 'mutate', verify } }, limits: { graceMs: 0 } })
    const handle = await acting(rig, ['pay'])
    const call = await rig.tool('pay').next()
    await rig.session.cancel()
    await rig.time.advance(1_000)
    call.returns('paid')
    expect((await handle.outcome()).calls.succeededMutating).toBe(1)
    expect((await callEnds(rig)).filter((line) => line.startsWith('call.finished'))).toEqual(['call.finished C1'])
    await checkAll(rig)
  })
})

describe('a result that comes after the outcome', () => {
  it('is late evidence, once, and changes nothing', async () => {
    const rig = await openRig({ tools, limits: { graceMs: 0 } })
    const handle = await acting(rig, ['pay', { id: '1' }], ['pay', { id: '2' }], ['look'])
    const [one, two] = [await rig.tool('pay').next(), await rig.tool('pay').next()]
    const look = await rig.tool('look').next()
    await rig.session.cancel()
    await rig.time.advance(0)
    const outcome = await handle.outcome()
    one.returns('paid after all')
    two.throws(new Error('not paid'))
    look.returns('seen too late')
    await rig.time.settle()
    const late = (await rig.facts()).filter((fact) => fact.type === 'call.late')
    expect(late.map((fact) => [fact.call, fact.data.outcome])).toEqual([
      [one.id, 'succeeded'],
      [two.id, 'failed'],
    ])
    expect(await handle.outcome()).toEqual(outcome)
    expect((await rig.session.state()).quarantined).toEqual([one.id, two.id])
    await checkAll(rig)
  })

  it('is recorded in a closed session, and dropped after an erase', async () => {
    for (const name of ['close', 'erase'] as const) {
      const rig = await openRig({ tools, limits: { graceMs: 0 } })
      await acting(rig, ['pay'])
      const call = await rig.tool('pay').next()
      await rig.session[name]({ cancel: true })
      await rig.time.advance(0)
      call.returns('paid after all')
      await rig.time.settle()
      const types = (await rig.facts()).map((fact) => fact.type)
      expect(types.includes('call.late')).toBe(name === 'close')
      await checkAll(rig)
    }
  })
})
