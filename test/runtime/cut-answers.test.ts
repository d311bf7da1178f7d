import { describe, expect, it } from 'vitest'
import { checkAll } from './kit/check.ts'
import { openRig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, order: {} } as const
const usage = { input: 10, output: 5 }

/** How much a provider cut off, the code that the turn ends with. */
const cuts = [
  ['length', 'MODEL_ANSWER_CUT'],
  ['filter', 'MODEL_ANSWER_FILTERED'],
] as const

describe.each(cuts)('an answer that ends by %s', (reason, code) => {
  it('is kept and fails its turn, and the next turn sees it', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('tell me all of it')
    const request = await rig.model.next()
    request.send({ type: 'text', text: 'the first half of' }, { type: 'finish', reason, usage })
    request.end()
    const outcome = await handle.outcome()
    expect(outcome).toMatchObject({ status: 'failed', code, message: 'the first half of', steps: 1 })
    expect(outcome.usage).toMatchObject({ input: 10, output: 5 })
    await rig.session.start('go on with it')
    const next = await rig.model.next()
    expect(next.request.messages.map(({ content }) => content)).toEqual([
      'tell me all of it',
      'the first half of',
      'go on with it',
    ])
    next.text('and the second half')
    await checkAll(rig)
  })

  it('blocks a follow-up that requires success', async () => {
    const rig = await openRig()
    await rig.session.start('tell me all of it')
    await rig.session.followUp('translate it for me', { requires: 'success' })
    const request = await rig.model.next()
    request.send({ type: 'finish', reason, usage })
    request.end()
    await rig.time.settle()
    expect((await rig.session.queue()).map(({ state }) => state)).toEqual(['blocked'])
    await checkAll(rig)
  })

  it('begins none of its calls, and each of them is answered', async () => {
    const rig = await openRig({ tools })
    const handle = await rig.session.start('look and order')
    const request = await rig.model.next()
    for (const name of ['look', 'order', 'tools_load']) request.send({ type: 'call', name, arguments: {} })
    request.send({ type: 'finish', reason, usage })
    request.end()
    expect(await handle.outcome()).toMatchObject({ status: 'failed', code })
    expect([...rig.tool('look').calls, ...rig.tool('order').calls]).toEqual([])
    const answers = (await rig.session.messages()).filter(({ role }) => role === 'tool')
    expect(answers.map(({ synthetic }) => synthetic)).toEqual([true, true, true])
    await checkAll(rig)
  })

  it('leads to another round when steering waits', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('tell me all of it')
    const request = await rig.model.next()
    await rig.session.steer('only the summary, please')
    request.send({ type: 'text', text: 'the first half of' }, { type: 'finish', reason, usage })
    request.end()
    ;(await rig.model.next()).text('in short')
    expect(await handle.outcome()).toMatchObject({ status: 'completed', message: 'in short' })
    await checkAll(rig)
  })
})

describe('a model that is silent at every attempt', () => {
  it('is abandoned each time, charged, and asked no more than four times', async () => {
    const rig = await openRig({ requestTimeoutMs: 1_000 })
    const handle = await rig.session.start('please answer')
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      expect((await rig.model.next()).attempt).toBe(attempt)
      await rig.time.advance(1_000)
    }
    expect(await handle.outcome()).toMatchObject({ status: 'failed', code: 'MODEL_FAILED' })
    const given = (await rig.facts()).flatMap((fact) => (fact.type === 'model.abandoned' ? [fact.data] : []))
    expect(given.map(({ reason, charged }) => [reason, charged.estimated])).toEqual(
      Array.from({ length: 4 }, () => ['deadline', true]),
    )
    await checkAll(rig)
  })
})

describe('a failure whose model says why', () => {
  it('is told in the log and in the outcome, without secrets and in few words', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('please answer')
    const reason = `set the key, not sk-${'a1B2c3D4'.repeat(5)}; ${'and so on '.repeat(40)}`
    const error = Object.assign(new Error('no'), { name: 'ModelError', code: 'NO_KEY', retryable: false, reason })
    ;(await rig.model.next()).throws(error)
    const outcome = await handle.outcome()
    expect(outcome).toMatchObject({
      status: 'failed',
      code: 'NO_KEY',
      reason: expect.stringMatching(/^set the key, not /),
    })
    expect(outcome.reason).not.toContain('a1B2c3D4')
    expect([...(outcome.reason ?? '')].length).toBeLessThanOrEqual(200)
    await checkAll(rig)
  })
})
