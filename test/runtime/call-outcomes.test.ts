import { describe, expect, it } from 'vitest'
import { OutcomeUnknownError } from '../../src/facts/errors.ts'
import { checkAll } from './kit/check.ts'
import { openRig, type Rig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, put: { effect: 'idempotent' }, pay: { effect: 'mutate' }, plain: {} } as const

/** A turn whose one answer asks for these calls. */
async function asked(rig: Rig, ...calls: (readonly [string, unknown?])[]) {
  const handle = await rig.session.start('do something for me')
  ;(await rig.model.next()).calls(...calls)
  return handle
}

const firstStep =
  'session.opened · task.created T1 {start} · task.started T1 · message.added T1 {user} · context.accounted T1 · model.requested T1'
const onward = 'context.accounted T1 · model.requested T1'

describe('a call that cannot run', () => {
  it('is refused when nobody knows its name', async () => {
    const rig = await openRig({ tools })
    await asked(rig, ['shop.nothing', { id: 'a' }])
    const request = await rig.model.next()
    expect(await rig.steps()).toEqual([
      firstStep,
      'model.completed T1 · message.added T1 {assistant} · call.requested C1 · call.refused C1 {CAPABILITY_NOT_LOADED} · ' +
        `message.added T1 {tool synthetic C1} · ${onward}`,
    ])
    const requested = (await rig.facts()).find((fact) => fact.type === 'call.requested')
    expect(requested?.data).not.toHaveProperty('effect')
    expect(requested?.data).not.toHaveProperty('ref')
    expect(request.lastMessage?.content).toContain('CAPABILITY_NOT_LOADED')
    request.text('then not')
    await checkAll(rig)
  })

  it('is refused when its arguments do not fit, and runs beside one that fits', async () => {
    const rig = await openRig({ tools })
    await asked(rig, ['pay', { sku: 'x' }], ['look', { id: 'a' }])
    const look = await rig.tool('look').next()
    look.returns('looked')
    const request = await rig.model.next()
    expect((await rig.steps())[1]).toBe(
      'model.completed T1 · message.added T1 {assistant} · call.requested C1 · call.requested C2 · ' +
        'call.refused C1 {INVALID_ARGUMENTS} · call.started C2',
    )
    expect(rig.tool('pay').calls).toEqual([])
    expect(request.request.messages.slice(-2).map((message) => message.role)).toEqual(['tool', 'tool'])
    request.text('one of two')
    await checkAll(rig)
  })

  it('is refused when the policy denies it or throws', async () => {
    const policy = ({ capability }: { capability: string }) => {
      if (capability === 'tool:put') throw new Error('the policy is broken')
      return {
        level: capability === 'tool:pay' ? ('inspect' as const) : ('execute' as const),
        confirm: 'none' as const,
      }
    }
    const rig = await openRig({ tools, policy })
    await asked(rig, ['pay', { id: 'x' }], ['put', { id: 'y' }], ['look'])
    ;(await rig.tool('look').next()).returns('looked')
    ;(await rig.model.next()).text('only looked')
    const types = (await rig.facts()).filter((fact) => fact.type === 'call.refused')
    expect(types.map((fact) => fact.data.code).every((code) => /DENIED|NOT_LOADED/.test(code))).toBe(true)
    expect(types.length).toBe(2)
    expect(rig.tool('pay').calls.length + rig.tool('put').calls.length).toBe(0)
    await checkAll(rig)
  })
})

describe('a call that fails', () => {
  it('ends failed when it throws, whatever its effect, and the model reads why', async () => {
    const rig = await openRig({ tools })
    const handle = await asked(rig, ['look'], ['put'], ['pay'], ['plain'])
    for (const name of ['look', 'put', 'pay', 'plain'])
      (await rig.tool(name).next()).throws(new Error(`${name} broke down`))
    const request = await rig.model.next()
    expect(request.request.messages.slice(-4).map((message) => message.content)).toEqual(
      ['look', 'put', 'pay', 'plain'].map((name) => expect.stringContaining(`${name} broke down`)),
    )
    request.text('nothing worked')
    expect((await handle.outcome()).calls).toEqual({
      total: 4,
      failed: 4,
      succeededMutating: 0,
      unknownMutating: 0,
      cancelled: 0,
    })
    expect((await rig.session.state()).quarantined).toEqual([])
    await checkAll(rig)
  })

  it('ends failed when what it returns is not JSON', async () => {
    const rig = await openRig({ tools })
    const handle = await asked(rig, ['look'], ['look', { id: '2' }])
    const circle: { self?: unknown } = {}
    circle.self = circle
    ;(await rig.tool('look').next()).returns(circle)
    ;(await rig.tool('look').next()).returns(10n)
    ;(await rig.model.next()).text('nothing to read')
    expect((await handle.outcome()).calls.failed).toBe(2)
    await checkAll(rig)
  })

  it('takes what throws no error', async () => {
    const rig = await openRig({ tools })
    const handle = await asked(rig, ['look'], ['look', { id: '2' }], ['look', { id: '3' }], ['look', { id: '4' }])
    const trap = {
      get code() {
        throw new Error('do not look')
      },
    }
    ;(await rig.tool('look').next()).throws(undefined)
    ;(await rig.tool('look').next()).throws(Object.create(null))
    ;(await rig.tool('look').next()).throws({
      code: 'not a code',
      toString: () => {
        throw new Error('no text either')
      },
    })
    ;(await rig.tool('look').next()).throws(trap)
    ;(await rig.model.next()).text('strange errors')
    expect((await handle.outcome()).calls.failed).toBe(4)
    await checkAll(rig)
  })

  it('keeps credentials out of what the model is told of an error', async () => {
    const rig = await openRig({ tools })
    const credential = `ghp_${'a1B2'.repeat(9)}`
    await asked(rig, ['look'])
    ;(await rig.tool('look').next()).throws(new Error(`401 for ${credential}`))
    const request = await rig.model.next()
    expect(request.lastMessage?.content).not.toContain(credential)
    request.text('no access')
    await checkAll(rig)
  })
})

describe('a call whose outcome nobody knows', () => {
  it('is tried again with the same key when it reads or is idempotent, and not when it changes something', async () => {
    const rig = await openRig({ tools })
    const handle = await asked(rig, ['look'], ['put'], ['pay'])
    const pay = await rig.tool('pay').next()
    const put = await rig.tool('put').next()
    ;(await rig.tool('look').next()).throws(new OutcomeUnknownError('the line went dead'))
    const lookAgain = await rig.tool('look').next()
    expect(lookAgain.context.attempt).toBe(2)
    put.throws(new OutcomeUnknownError('the line went dead'))
    const putAgain = await rig.tool('put').next()
    expect([putAgain.context.attempt, putAgain.context.idempotencyKey]).toEqual([2, put.context.idempotencyKey])
    pay.throws(new OutcomeUnknownError('the line went dead'))
    await rig.time.settle()
    expect(rig.tool('pay').calls.length).toBe(1)
    lookAgain.returns('looked')
    putAgain.returns('stored')
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toMatch(/unknown.*not repeat/is)
    request.text('one is unknown')
    expect((await handle.outcome()).calls).toMatchObject({ total: 3, failed: 0, unknownMutating: 1 })
    const pays = (await rig.steps()).filter((step) => step.includes('call.unknown'))
    expect(pays).toEqual(['call.unknown C3 {transport} · mutation.quarantined {C3}'])
    expect((await rig.session.state()).quarantined).toEqual([pay.id])
    await checkAll(rig)
  })

  it('is tried four times and no more', async () => {
    const rig = await openRig({ tools })
    const handle = await asked(rig, ['look'], ['put'])
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      for (const name of ['look', 'put']) {
        const call = await rig.tool(name).next()
        expect(call.context.attempt).toBe(attempt)
        call.throws(new OutcomeUnknownError('again'))
      }
    }
    ;(await rig.model.next()).text('gave up')
    expect(rig.tool('look').calls.length).toBe(4)
    expect(rig.tool('put').calls.length).toBe(4)
    await handle.outcome()
    // A read that never answered has failed; what each attempt of the other may have changed, nobody knows.
    const ends = (await rig.facts()).filter(({ type }) => type === 'call.finished' || type === 'call.unknown')
    expect(ends.map(({ type, data }) => [type, data])).toEqual([
      ['call.finished', expect.objectContaining({ outcome: 'failed' })],
      ['call.unknown', { reason: 'transport' }],
    ])
    expect((await rig.session.state()).quarantined).toEqual([])
    await checkAll(rig)
  })

  it('is asked about where the tool can tell', async () => {
    const answers = ['succeeded', 'failed', 'unknown'] as const
    for (const answer of answers) {
      const rig = await openRig({ tools: { pay: { effect: 'mutate', verify: async () => answer } } })
      const handle = await asked(rig, ['pay'])
      ;(await rig.tool('pay').next()).throws(new OutcomeUnknownError('the line went dead'))
      ;(await rig.model.next()).text('so it is')
      const { calls } = await handle.outcome()
      expect([calls.succeededMutating, calls.failed, calls.unknownMutating]).toEqual(
        answers.map((of) => (of === answer ? 1 : 0)),
      )
      await checkAll(rig)
    }
  })

  it('ends unknown when the probe hangs, throws or says nonsense', async () => {
    const probes = [
      () => new Promise<never>(() => {}),
      () => Promise.reject(new Error('no answer')),
      async () => 'maybe' as 'unknown',
    ]
    for (const verify of probes) {
      const rig = await openRig({ tools: { pay: { effect: 'mutate', verify } } })
      const handle = await asked(rig, ['pay'])
      ;(await rig.tool('pay').next()).throws(new OutcomeUnknownError('the line went dead'))
      await rig.time.advance(5_000)
      ;(await rig.model.next()).text('nobody knows')
      expect((await handle.outcome()).calls.unknownMutating).toBe(1)
      await checkAll(rig)
    }
  })
})

describe('a call that takes too long', () => {
  it('is told to stop at its deadline and acknowledges', async () => {
    const rig = await openRig({ tools: { look: { effect: 'read', timeoutMs: 2_000 } } })
    await asked(rig, ['look'])
    const call = await rig.tool('look').next()
    await rig.time.advance(1_999)
    expect(call.aborted).toBe(false)
    await rig.time.advance(1)
    expect(call.aborted).toBe(true)
    call.acknowledges()
    ;(await rig.model.next()).text('it stopped')
    expect((await rig.steps()).slice(2)).toEqual([
      'call.aborting C1 {deadline}',
      `call.cancelled C1 {acknowledged} · message.added T1 {tool synthetic C1} · ${onward}`,
      'model.completed T1 · message.added T1 {assistant} · task.completed T1',
    ])
    await checkAll(rig)
  })

  it('ends by its effect when it is deaf', async () => {
    const timeoutMs = 2_000
    const rig = await openRig({
      tools: {
        look: { effect: 'read', timeoutMs },
        put: { effect: 'idempotent', timeoutMs },
        pay: { effect: 'mutate', timeoutMs },
      },
      limits: { graceMs: 500 },
    })
    await asked(rig, ['look'], ['put'], ['pay'])
    await rig.time.advance(2_000)
    expect(await rig.model.waiting()).toBe(0)
    await rig.time.advance(500)
    ;(await rig.model.next()).text('three deaf tools')
    const ends = (await rig.facts()).filter((fact) => ['call.cancelled', 'call.unknown'].includes(fact.type))
    expect(ends.map((fact) => [fact.type, fact.data])).toEqual([
      ['call.cancelled', { when: 'interrupted' }],
      ['call.unknown', { reason: 'deadline' }],
      ['call.unknown', { reason: 'deadline' }],
    ])
    expect((await rig.session.state()).quarantined).toEqual([(await rig.tool('pay').next()).id])
    await checkAll(rig)
  })

  it('counts as succeeded when it returns within the grace', async () => {
    const rig = await openRig({ tools: { pay: { effect: 'mutate', timeoutMs: 2_000 } } })
    const handle = await asked(rig, ['pay'])
    const call = await rig.tool('pay').next()
    await rig.time.advance(2_000)
    call.returns('paid in time')
    ;(await rig.model.next()).text('paid')
    expect((await handle.outcome()).calls.succeededMutating).toBe(1)
    await checkAll(rig)
  })
})
