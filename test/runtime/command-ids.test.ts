import { expect, it } from 'vitest'
import { checkAll, refusal } from './kit/check.ts'
import { openRig, scope } from './kit/rig.ts'

it('gives the first receipt again for the same id and body, also after a restart', async () => {
  const rig = await openRig()
  const first = await rig.session.start('do it once', { commandId: 'start-1' })
  expect(first.receipt).toMatchObject({ result: 'applied', task: first.id, command: 'start-1', seq: 1 })
  const steer = await rig.session.steer('and mind this', { commandId: 'steer-1' })
  const before = await rig.stepCount()
  const again = await rig.session.start('do it once', { commandId: 'start-1' })
  expect([again.id, again.receipt]).toEqual([first.id, { ...first.receipt, result: 'duplicate' }])
  expect(await rig.session.steer('and mind this', { commandId: 'steer-1' })).toEqual({ ...steer, result: 'duplicate' })
  expect(await rig.stepCount()).toBe(before)
  await rig.crashAndReopen()
  const after = await rig.session.start('do it once', { commandId: 'start-1' })
  expect([after.id, after.receipt]).toEqual([first.id, { ...first.receipt, result: 'duplicate' }])
  expect(await rig.session.steer('and mind this', { commandId: 'steer-1' })).toEqual({ ...steer, result: 'duplicate' })
  await checkAll(rig)
})

it('does one thing when the same command comes twice at once', async () => {
  const rig = await openRig()
  const [one, two] = await Promise.all([
    rig.session.start('race me', { commandId: 'c' }),
    rig.session.start('race me', { commandId: 'c' }),
  ])
  expect(one.id).toBe(two.id)
  expect([one.receipt.result, two.receipt.result]).toEqual(['applied', 'duplicate'])
  expect((await rig.facts()).filter((fact) => fact.type === 'task.created').length).toBe(1)
  await checkAll(rig)
})

it('refuses an id that was used for something else, also after a restart', async () => {
  const rig = await openRig()
  await rig.session.start('do it once', { commandId: 'c' })
  await rig.session.followUp('and then this', { commandId: 'f' })
  expect((await refusal(rig.session.start('do something else', { commandId: 'c' }))).code).toBe('COMMAND_CONFLICT')
  expect((await refusal(rig.session.steer('do it once', { commandId: 'c' }))).code).toBe('COMMAND_CONFLICT')
  const sameText = rig.session.followUp('and then this', { commandId: 'f', requires: 'success' })
  expect((await refusal(sameText)).code).toBe('COMMAND_CONFLICT')
  await rig.crashAndReopen()
  expect((await refusal(rig.session.start('do something else', { commandId: 'c' }))).code).toBe('COMMAND_CONFLICT')
  await checkAll(rig)
})

it('gives every kind of command its receipt again', async () => {
  const rig = await openRig({ tools: { pay: { effect: 'mutate' } }, limits: { graceMs: 0 } })
  await rig.session.start('pay for it')
  ;(await rig.model.next()).calls(['pay'])
  await rig.tool('pay').next()
  const pending = await rig.session.followUp('first follow-up')
  const commands = {
    replace: () => rig.session.replace(pending.id, 'better words', { commandId: 'replace' }),
    unblock: () => rig.session.unblock(pending.id, { commandId: 'unblock' }),
    cancel: () => rig.session.cancel({ commandId: 'cancel', reason: 'no more' }),
    acknowledge: () => rig.session.acknowledge('all', { commandId: 'acknowledge' }),
    close: () => rig.session.close({ commandId: 'close', cancel: true }),
    reopen: () => rig.session.reopen({ commandId: 'reopen' }),
  }
  for (const [name, send] of Object.entries(commands)) {
    const first = await send().catch((error: { code: string }) => error.code)
    await rig.time.settle()
    const second = await send().catch((error: { code: string }) => error.code)
    if (typeof first === 'string') expect([name, second]).toEqual([name, first])
    else expect([name, second]).toEqual([name, { ...first, result: 'duplicate' }])
    await rig.time.settle()
  }
  await checkAll(rig)
})

it('writes the accepted command into the step that it led to', async () => {
  const rig = await openRig()
  const handle = await rig.session.start('do it once', { commandId: 'start-1' })
  const accepted = (await rig.facts()).find((fact) => fact.type === 'command.accepted')
  expect(accepted).toMatchObject({ step: 1, task: null, command: 'start-1' })
  expect(accepted?.data).toMatchObject({ command: 'start-1', name: 'start', result: 'applied', target: handle.id })
  expect((await rig.facts()).every((fact) => fact.step > 1 || fact.command === 'start-1')).toBe(true)
  await checkAll(rig)
})

it('does not remember a refusal', async () => {
  const rig = await openRig()
  await rig.session.start('be busy')
  expect((await refusal(rig.session.start('me too', { commandId: 'c' }))).code).toBe('SESSION_BUSY')
  ;(await rig.model.next()).text('not busy any more')
  await rig.time.settle()
  expect((await rig.session.start('me too', { commandId: 'c' })).receipt.result).toBe('applied')
  await checkAll(rig)
})

it('refuses ids that are too long, empty, ours, or hold control characters or credentials', async () => {
  const rig = await openRig()
  const bad = ['x'.repeat(129), '', '_internal', 'a\nb', 'a\u0000b', `ghp_${'a1B2'.repeat(9)}`]
  for (const commandId of bad) {
    const { code } = await refusal(() => rig.session.start('with a bad id', { commandId }))
    expect([commandId, code]).toEqual([commandId, 'INVALID_INPUT'])
  }
  for (const id of bad.slice(0, 5))
    for (const field of ['tenant', 'user', 'session'] as const) {
      const { code } = await refusal(() => rig.runtime.session({ ...scope, [field]: id }))
      expect([field, id, code]).toEqual([field, id, 'INVALID_INPUT'])
    }
  expect(await rig.facts()).toEqual([])
  expect((await rig.session.start('with a good id', { commandId: 'x'.repeat(128) })).receipt.result).toBe('applied')
  await checkAll(rig)
})

it('has empty lists and no objects for a session that was never opened', async () => {
  const rig = await openRig()
  const { session } = rig
  for (const list of [session.tasks(), session.queue(), session.calls(), session.messages(), session.log()])
    expect(await list).toEqual([])
  expect((await refusal(session.state())).code).toBe('NOT_FOUND')
  expect((await refusal(session.request({ seq: 1 }))).code).toBe('NOT_FOUND')
  expect((await refusal(session.task('01ARZ3NDEKTSV4RRFFQ69G5FAV').outcome())).code).toBe('NOT_FOUND')
  for (const command of [session.steer('x'), session.cancel(), session.close(), session.acknowledge('all')])
    expect((await refusal(command)).code).toBe('NOT_FOUND')
  expect(await rig.facts()).toEqual([])
  expect(await rig.runtime.sessions({ tenant: 't', user: 'u' })).toEqual([])
})

it('lets a follow-up and a supersede open a session and start at once', async () => {
  for (const name of ['followUp', 'supersede'] as const) {
    const rig = await openRig()
    const handle = await rig.session[name]('be the first')
    expect(handle.receipt.result).toBe('applied')
    ;(await rig.model.next()).text('I am')
    expect((await handle.outcome()).status).toBe('completed')
    await checkAll(rig)
  }
})

it('an option that holds nothing is the same wish as none, under a command id and under an idempotency key', async () => {
  const rig = await openRig()
  const empty = { settings: {}, grants: {}, skills: [] }
  const first = await rig.session.start('once', { commandId: 'c' })
  for (const [name, value] of Object.entries(empty))
    expect((await rig.session.start('once', { commandId: 'c', [name]: value })).id, name).toBe(first.id)
  const job = await rig.session.spawn('job', { ...empty, limits: {}, idempotencyKey: 'k' })
  for (const more of [{}, { limits: {} }, { skills: [] }, { grants: {}, settings: {} }])
    expect(await rig.session.spawn('job', { ...more, idempotencyKey: 'k' })).toMatchObject({ id: job.id, reused: true })
  const other = rig.session.spawn('job', { limits: { stepsPerTurn: 2 }, idempotencyKey: 'k' })
  expect((await refusal(other)).code).toBe('IDEMPOTENCY_CONFLICT')
  const bound = rig.session.start('once', { commandId: 'c', settings: { temperature: 1 } })
  expect((await refusal(bound)).code).toBe('COMMAND_CONFLICT')
})

it('a grant of a name that objects have of their own is refused, not passed over', async () => {
  const rig = await openRig()
  const grants = JSON.parse('{"__proto__":{"level":"none","confirm":"none"}}')
  expect((await refusal(rig.session.start('go', { grants }))).code).toBe('INVALID_INPUT')
  expect(await rig.facts()).toEqual([])
})
