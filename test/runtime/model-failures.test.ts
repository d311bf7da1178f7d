import { describe, expect, it } from 'vitest'
import { ModelError } from '../../src/facts/ports.ts'
import { checkAll } from './kit/check.ts'
import { retryTimes, retryWait } from './kit/retry-wait.ts'
import { openRig, type Rig } from './kit/rig.ts'

const tools = { look: { effect: 'read' } } as const
const firstStep =
  'session.opened · task.created T1 {start} · task.started T1 · message.added T1 {user} · context.accounted T1 · model.requested T1'
const onward = 'context.accounted T1 · model.requested T1'

describe('a model that fails', () => {
  it('is asked again, later each time, at the recorded time and never before', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('please answer')
    let last = 0
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const request = await rig.model.next()
      expect(request.attempt).toBe(attempt)
      request.fails('RATE_LIMITED', true)
      const at = Date.parse((await retryTimes(rig)).at(-1) ?? '')
      const wait = at - rig.time.now()
      expect(wait).toBeGreaterThan(0)
      expect(wait).toBeGreaterThanOrEqual(last / 2)
      last = wait
      await rig.time.advance(wait - 1)
      expect(await rig.model.waiting()).toBe(0)
      await rig.time.advance(1)
    }
    ;(await rig.model.next()).text('finally')
    expect(await handle.outcome()).toMatchObject({ status: 'completed', message: 'finally', steps: 1 })
    const failed = 'model.failed T1 {RATE_LIMITED}'
    expect(await rig.steps()).toEqual([
      firstStep,
      failed,
      onward,
      failed,
      onward,
      failed,
      onward,
      'model.completed T1 · message.added T1 {assistant} · task.completed T1',
    ])
    await checkAll(rig)
  })

  it('is not asked more than four times', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('please answer')
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      ;(await rig.model.next()).fails('OVERLOADED', true)
      await rig.time.advance(60_000)
    }
    expect(rig.model.asked.length).toBe(4)
    expect(await handle.outcome()).toMatchObject({ status: 'failed' })
    expect((await retryTimes(rig)).map((at) => at !== undefined)).toEqual([true, true, true, false])
    await checkAll(rig)
  })

  it('is asked anew with every step: attempts are counted a step', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('please answer')
    for (let round = 0; round < 3; round += 1) {
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        ;(await rig.model.next()).fails('OVERLOADED', true)
        await rig.time.advance(60_000)
      }
      ;(await rig.model.next()).calls(['look', { id: String(round) }])
      ;(await rig.tool('look').next()).returns('looked')
    }
    ;(await rig.model.next()).text('done at last')
    await rig.time.settle()
    expect((await rig.session.tasks())[0]?.status).toBe('completed')
    await checkAll(rig)
  })

  it('waits as long as the provider says', async () => {
    const rig = await openRig()
    await rig.session.start('please answer')
    ;(await rig.model.next()).fails('RATE_LIMITED', true, 90_000)
    const wait = await retryWait(rig)
    expect(wait).toBeGreaterThanOrEqual(90_000)
    await rig.time.advance(wait - 1)
    expect(await rig.model.waiting()).toBe(0)
    await rig.time.advance(1)
    ;(await rig.model.next()).text('thank you for waiting')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('waits a little longer than the provider says, each time another little, and never more than a second of it', async () => {
    const longer: number[] = []
    for (const asked of [0, 1_000, 1_000, 1_000, 600_000, 600_000]) {
      const rig = await openRig({ seed: longer.length + 1 })
      await rig.session.start('please answer')
      ;(await rig.model.next()).fails('RATE_LIMITED', true, asked)
      longer.push((await retryWait(rig)) - asked)
      await rig.time.advance(asked + 1_000)
      ;(await rig.model.next()).text('thank you for waiting')
      await rig.time.settle()
      await checkAll(rig)
    }
    const [none = -1, ...rest] = longer
    expect(none).toBe(0)
    expect(new Set(rest).size).toBe(rest.length)
    for (const tenth of rest.slice(0, 3)) expect([tenth >= 0, tenth <= 100]).toEqual([true, true])
    for (const second of rest.slice(3)) expect([second >= 0, second <= 1_000]).toEqual([true, true])
  })

  it('ends the turn when the provider asks for a longer wait than the limit, and says how long was asked', async () => {
    for (const [wait, limits, said] of [
      [600_001, {}, '600.001 s; at most 600 s'],
      [5_000, { retryAfterMs: 4_999 }, '5 s; at most 4.999 s'],
      [1e300, {}, 'more seconds than can be told'],
      [Number.POSITIVE_INFINITY, {}, 'more seconds than can be told'],
    ] as const) {
      const rig = await openRig({ limits })
      const handle = await rig.session.start('please answer')
      const failure = { code: 'RATE_LIMITED', retryable: true, retryAfterMs: wait, reason: 'The quota is used up.' }
      ;(await rig.model.next()).throws(new ModelError(failure))
      const outcome = await handle.outcome()
      expect(outcome).toMatchObject({ status: 'failed', code: 'RATE_LIMITED' })
      expect(outcome.reason).toContain(said)
      expect(outcome.reason).toContain('The quota is used up.')
      expect(await retryTimes(rig)).toEqual([undefined])
      expect(rig.model.asked.length).toBe(1)
      await checkAll(rig)
    }
  })

  it('is asked again as usual when what the provider says is no time', async () => {
    for (const wait of [Number.NaN, -5, '7' as never]) {
      const rig = await openRig()
      await rig.session.start('please answer')
      ;(await rig.model.next()).fails('RATE_LIMITED', true, wait)
      const backoff = await retryWait(rig)
      expect([backoff >= 250, backoff <= 500]).toEqual([true, true])
      await rig.time.advance(backoff)
      ;(await rig.model.next()).text('here I am')
      await rig.time.settle()
      await checkAll(rig)
    }
  })

  it('ends the turn when asking again is of no use', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('please answer')
    ;(await rig.model.next()).fails('CONTENT_REFUSED', false)
    expect((await handle.outcome()).status).toBe('failed')
    expect(await rig.steps()).toEqual([
      firstStep,
      expect.stringMatching(/^model.failed T1 \{CONTENT_REFUSED\} · .*task.failed T1/),
    ])
    await checkAll(rig)
  })

  it('leaves the session ready for the next turn, whose view is valid', async () => {
    const rig = await openRig()
    await rig.session.start('please answer')
    ;(await rig.model.next()).fails('CONTENT_REFUSED', false)
    await rig.time.settle()
    const second = await rig.session.start('try this instead')
    const request = await rig.model.next()
    expect(request.request.messages.map((message) => message.content)).toEqual(['please answer', 'try this instead'])
    request.text('gladly')
    expect((await second.outcome()).status).toBe('completed')
    await checkAll(rig)
  })
})

const broken: Readonly<Record<string, (request: Awaited<ReturnType<Rig['model']['next']>>) => void>> = {
  'ends without a finish': (request) => {
    request.send({ type: 'text', text: 'half' })
    request.end()
  },
  'has an unknown chunk': (request) => request.send({ type: 'video', frames: [] }),
  'has a chunk that is no object': (request) => request.send('text'),
  'has an unknown finish reason': (request) => request.send({ type: 'finish', reason: 'tired' }),
  'goes on after its finish': (request) => {
    request.send({ type: 'finish', reason: 'stop' }, { type: 'text', text: 'and more' })
    request.end()
  },
  'has arguments that are no JSON': (request) => {
    request.send({ type: 'call', name: 'look', arguments: '{"id": ' }, { type: 'finish', reason: 'calls' })
    request.end()
  },
  'throws what is no model error': (request) => request.throws(new Error('socket hang up')),
  'is empty': (request) => request.end(),
}

describe('a stream that breaks the rules', () => {
  for (const [what, answer] of Object.entries(broken))
    it(`fails as an invalid response when it ${what}`, async () => {
      const rig = await openRig({ tools })
      const handle = await rig.session.start('please answer')
      answer(await rig.model.next())
      await rig.time.settle()
      const failed = (await rig.facts()).find((fact) => fact.type === 'model.failed')
      expect(failed?.data).toMatchObject({ code: 'MODEL_INVALID_RESPONSE' })
      for (let more = 0; more < 4 && (await rig.session.tasks())[0]?.state !== 'terminal'; more += 1) {
        await rig.time.advance(60_000)
        if ((await rig.model.waiting()) > 0) answer(await rig.model.next())
        await rig.time.settle()
      }
      expect((await handle.outcome()).status).toBe('failed')
      expect(rig.tool('look').calls).toEqual([])
      await checkAll(rig)
    })
})

describe('a model that is silent', () => {
  it('is given up after a minute, also between chunks, and asked again', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('please answer')
    const first = await rig.model.next()
    await rig.time.advance(59_999)
    expect(first.signal.aborted).toBe(false)
    await rig.time.advance(1)
    expect(first.signal.aborted).toBe(true)
    await rig.time.advance(30_000)
    const second = await rig.model.next()
    expect(second.attempt).toBe(2)
    for (let chunk = 0; chunk < 3; chunk += 1) {
      second.send({ type: 'text', text: 'slowly ' })
      await rig.time.advance(50_000)
    }
    expect(second.signal.aborted).toBe(false)
    await rig.time.advance(10_000)
    expect(second.signal.aborted).toBe(true)
    await rig.time.advance(30_000)
    ;(await rig.model.next()).text('here I am')
    expect((await handle.outcome()).message).toBe('here I am')
    const charged = (await rig.facts()).flatMap((fact) =>
      fact.type === 'model.abandoned' ? [fact.data.charged] : fact.type === 'model.failed' ? [fact.data.usage] : [],
    )
    expect(charged[1]).toMatchObject({ estimated: true, output: Math.ceil(('slowly '.length * 3) / 4) })
    await checkAll(rig)
  })

  it('charges a request that was never answered for what it was sent', async () => {
    const rig = await openRig({ requestTimeoutMs: 1_000 })
    await rig.session.start('please answer')
    await rig.model.next()
    await rig.time.advance(1_000)
    const used = (await rig.session.state()).budget.used
    const accounted = (await rig.facts()).find((fact) => fact.type === 'context.accounted')
    const occupancy = accounted?.type === 'context.accounted' ? accounted.data.occupancy : 0
    expect(used).toBe(Math.ceil(occupancy / 4))
    await rig.session.cancel()
    await checkAll(rig)
  })
})
