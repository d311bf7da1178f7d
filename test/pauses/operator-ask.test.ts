import { describe, expect, it } from 'vitest'
import { checkAll, refusal } from '../runtime/kit/check.ts'
import { openRig } from '../runtime/kit/rig.ts'
import { acting, end, onward, pauses, stateOf, tokens } from './kit/pausing.ts'

const tools = { look: { effect: 'read' }, pay: { effect: 'mutate' }, wire: { confirm: 'each' } } as const
const question = 'Which account is meant?'
const ask = ['operator_ask', { question }] as const

describe('a question of the planner', () => {
  it('is an input pause of the task, durable before anybody is told; the answer is its tool message', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ask)
    expect(await stateOf(rig)).toBe('paused')
    const [token = ''] = await tokens(rig)
    expect(await rig.session.pauses()).toEqual([
      {
        token,
        reason: 'input',
        task: expect.any(String),
        seq: 9,
        subject: { name: 'operator_ask', effect: null, arguments: { question }, text: question },
      },
    ])
    await rig.session.resume(token, { decision: 'resume', input: 'the blue one' })
    const request = await rig.model.next()
    expect(request.lastMessage).toMatchObject({ role: 'tool', content: 'the blue one' })
    request.text('done')
    expect(await stateOf(rig)).toBe('completed')
    const [call] = (await rig.session.messages()).flatMap(({ toolCalls }) => toolCalls ?? [])
    expect(await rig.stepsAfter(1)).toEqual([
      'model.completed T1 · message.added T1 {assistant} · pause.requested T1 {input} · task.paused T1',
      `pause.settled T1 {resume} · task.resumed T1 · message.added T1 {tool ${call?.id}} · ${onward}`,
      end,
    ])
    await checkAll(rig)
  })

  it('is asked when the other calls of its batch are settled, and what stands behind it waits', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['look'], ask, ['episode_start', { kind: 'exploration', goal: 'find it' }], ask, ['pay'])
    expect(await tokens(rig)).toEqual([])
    ;(await rig.tool('look').next()).returns('seen')
    ;(await rig.tool('pay').next()).returns('paid')
    expect(await stateOf(rig)).toBe('paused')
    const [first = ''] = await tokens(rig)
    await rig.session.resume(first, { decision: 'resume', input: { account: 7 } })
    const [second = ''] = await tokens(rig)
    expect(second).not.toBe(first)
    await rig.session.resume(second, { decision: 'resume' })
    const request = await rig.model.next()
    expect(request.request.messages.slice(-5).map(({ content }) => content)).toEqual([
      'seen',
      '{"account":7}',
      expect.stringContaining('episode'),
      'The operator let the work go on without an answer.',
      'paid',
    ])
    request.text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('survives restarts, and its answer reaches the model once', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ask)
    const before = await rig.session.pauses()
    await rig.crashAndReopen()
    await rig.crashAndReopen()
    expect(await rig.session.pauses()).toEqual(before)
    expect(await rig.stepCount()).toBe(2)
    const [token = ''] = await tokens(rig)
    await rig.session.resume(token, { decision: 'resume', input: 'yes', commandId: 'answer' })
    await rig.crashAndReopen()
    expect((await rig.session.resume(token, { decision: 'resume', input: 'yes', commandId: 'answer' })).result).toBe(
      'duplicate',
    )
    expect(await refusal(rig.session.resume(token, { decision: 'resume' }))).toMatchObject({ code: 'ALREADY_SETTLED' })
    const contents = (await rig.session.messages()).filter(({ role }) => role === 'tool')
    expect(contents.map(({ content }) => content)).toEqual(['yes'])
    await rig.session.cancel()
    await checkAll(rig)
  })

  it.each([
    ['reject', 'PAUSE_REJECTED'],
    ['timeout', 'PAUSE_TIMEOUT'],
  ] as const)('that is settled with %s ends the task, as every own pause does', async (decision, code) => {
    const rig = await openRig({ tools })
    await acting(rig, ask)
    const [token = ''] = await tokens(rig)
    await rig.session.resume(token, { decision })
    expect(await stateOf(rig)).toBe('failed')
    expect((await rig.steps()).at(-1)).toMatch(
      new RegExp(
        `^pause.settled T1 {${decision}} · message.added T1 {tool synthetic \\w+} · task.failed T1 {${code}}$`,
      ),
    )
    await checkAll(rig)
  })

  it('may have a time for its answer, which is stored', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['operator_ask', { question, waitMs: 86_400_000 }])
    const [pause] = await rig.session.pauses()
    expect(pause?.deadline).toBe(new Date(rig.time.now() + 86_400_000).toISOString())
    await rig.crashAndReopen()
    await rig.time.advance(86_399_000)
    expect(await stateOf(rig)).toBe('paused')
    await rig.time.advance(1_000)
    expect(await stateOf(rig)).toBe('failed')
    await checkAll(rig)
  })

  it('is withdrawn by an interrupting steer, and the model goes on with what was said', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ask, ['capabilities_list'])
    await rig.session.steer('never mind the account', { mode: 'interrupt' })
    const request = await rig.model.next()
    expect(request.request.messages.slice(-3).map(({ content }) => content)).toEqual([
      'Not answered: the question was withdrawn before an answer came.',
      'Not done: new input from the operator came first. It had no effect.',
      'never mind the account',
    ])
    expect(await rig.session.pauses()).toEqual([])
    request.text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('is withdrawn by a cancel and by a supersede; a plain steer waits for the answer', async () => {
    for (const command of ['cancel', 'supersede'] as const) {
      const rig = await openRig({ tools })
      await acting(rig, ask)
      await rig.session.steer('one more thing')
      expect(await rig.model.waiting()).toBe(0)
      if (command === 'cancel') await rig.session.cancel()
      else await rig.session.supersede('another question')
      expect(await stateOf(rig)).toBe(command === 'cancel' ? 'cancelled' : 'superseded')
      expect(await rig.session.pauses()).toEqual([])
      if (command === 'supersede') await rig.session.cancel()
      await checkAll(rig)
    }
  })

  it('waits for a pause of the operator, and joins one that comes later', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('do it')
    const request = await rig.model.next()
    await rig.session.pause()
    request.calls(ask)
    const [own = ''] = await tokens(rig)
    await rig.session.resume(own, { decision: 'resume' })
    const [asked = ''] = await tokens(rig)
    expect((await rig.session.pauses()).map(({ reason }) => reason)).toEqual(['input'])
    expect((await rig.session.pause()).result).toBe('joined')
    await rig.session.resume(asked, { decision: 'resume', input: 'so' })
    ;(await rig.model.next()).text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('is shown whole and redacted, and only its beginning is in a fact', async () => {
    const rig = await openRig({ tools })
    const long = `Is this right: api_key=sk-live-${'a1b2c3d4'.repeat(4)} ${'and so on '.repeat(60)}?`
    await acting(rig, ['operator_ask', { question: long }])
    const text = (await rig.session.pauses())[0]?.subject?.text ?? ''
    expect(text.length).toBeGreaterThan(500)
    expect(text).not.toContain('a1b2c3d4')
    expect(JSON.stringify(await rig.facts())).not.toContain('a1b2c3d4')
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('beyond the bound of open pauses, or malformed, is an error to the model', async () => {
    const rig = await openRig({ tools, limits: { openPausesPerSession: 1 } })
    await acting(rig, ['wire'], ['look'], ['operator_ask', {}])
    ;(await rig.tool('look').next()).returns('seen')
    const [token = ''] = await tokens(rig)
    await rig.session.confirm(token, 'deny')
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toContain('INVALID_ARGUMENTS')
    request.calls(['pay'])
    const call = await rig.tool('pay').next()
    await pauses(rig, call, { reason: 'input', subject: 'Which?' })
    expect((await rig.session.pauses())[0]?.subject).toMatchObject({ name: 'pay', text: 'Which?' })
    await rig.session.cancel()
    await checkAll(rig)
  })
})

describe('a decision that does not fit the pause', () => {
  it('is refused with what would be accepted, and changes nothing', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['wire'])
    await rig.session.pause()
    const [approval = '', own = ''] = await tokens(rig)
    const steps = await rig.stepCount()
    expect(await refusal(rig.session.resume(own, { decision: 'approve' }))).toMatchObject({
      code: 'INVALID_INPUT',
      details: { field: 'decision', reason: 'operator', accepted: ['resume', 'reject', 'timeout'] },
    })
    expect(await refusal(rig.session.resume(approval, { decision: 'resume' }))).toMatchObject({
      code: 'INVALID_INPUT',
      details: { reason: 'approval', accepted: ['approve', 'reject', 'timeout'] },
    })
    expect(await rig.stepCount()).toBe(steps)
    expect((await rig.session.pauses()).map(({ token }) => token)).toEqual([own, approval])
    await rig.session.cancel()
    await checkAll(rig)
  })
})
