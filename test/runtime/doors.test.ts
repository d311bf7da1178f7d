import { expect, it } from 'vitest'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'

const scope = { tenant: 't', user: 'u', session: 's' }
const secret = 'AKIAIOSFODNN7EXAMPLE'
const half = 'half of a character: \ud83d'
const echo = scriptedModel({ name: 'm', everyTurn: [{ text: 'ok' }] })

it('takes no half of a character in any input, and nothing of the command stays', async () => {
  const model = scriptedModel({ name: 'm', everyTurn: [{ hang: true }] })
  const runtime = await openRuntime({ log: memoryLog(), model, limits: { graceMs: 0 } })
  const session = runtime.session(scope)
  await expect(session.start(half)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  const handle = await session.start('x')
  const before = (await session.log()).length
  for (const refused of [
    session.followUp(half),
    session.supersede([{ type: 'text', text: half }]),
    session.steer(half),
    session.replace(handle.id, half),
  ])
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { field: 'input' } })
  expect((await session.log()).length).toBe(before)
  await runtime.close()
})

it('refuses an answer that calls a tool by a credential, and the credential goes nowhere', async () => {
  const model = scriptedModel({ name: 'm', everyTurn: [{ calls: [{ name: secret, arguments: {} }] }] })
  const runtime = await openRuntime({ log: memoryLog(), model })
  const session = runtime.session(scope)
  expect(await (await session.start('x')).outcome()).toMatchObject({ status: 'failed', code: 'MODEL_INVALID_RESPONSE' })
  expect(JSON.stringify([await session.log(), await session.messages()])).not.toContain(secret)
  await runtime.close()
})

it('takes no credential for who reads more than their own, and no scope that is none', async () => {
  const log = memoryLog()
  const runtime = await openRuntime({ log, model: echo })
  const wide = (actor: string, asked: string) =>
    runtime.sessions({ tenant: 't', user: 'u', elevated: { actor, scope: asked as 'tenant' } })
  await expect(wide(secret, 'tenant')).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { field: 'actor' } })
  await expect(wide('ops', 'planet')).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { field: 'scope' } })
  expect(await wide('ops', 'fleet')).toEqual([])
  await runtime.close()
})

it('answers a repeated command with the first receipt, also when the session was erased since', async () => {
  const runtime = await openRuntime({ log: memoryLog(), model: echo })
  const session = runtime.session(scope)
  const first = await session.start('x', { commandId: 'once' })
  await first.outcome()
  await session.erase()
  const again = await session.start('x', { commandId: 'once' })
  expect(again.receipt).toEqual({ ...first.receipt, result: 'duplicate' })
  await expect(session.followUp('x', { commandId: 'once' })).rejects.toMatchObject({ code: 'COMMAND_CONFLICT' })
  await expect(session.start('x')).rejects.toMatchObject({ code: 'SESSION_ERASED' })
  await runtime.close()
})

it.each([
  [{ workspcae: { from: '.' } }, 'workspcae'],
  [{ log: null }, 'log'],
  [{ log: 'landfall.db' }, 'log'],
])('names the option that is wrong: %j', async (wrong, field) => {
  const options = { log: memoryLog(), model: echo, ...(wrong as object) }
  await expect(openRuntime(options)).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { field } })
})

it('has a code for misuse that types would have found', async () => {
  await expect(openRuntime(undefined as never)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  expect(() => defineTool(null as never)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  expect(() => defineTool({ name: 'a', description: 'b', tags: 'c' } as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', details: { field: 'tags' } }),
  )
  const runtime = await openRuntime({ log: memoryLog(), model: echo })
  for (const nothing of [null, undefined, 'a/b/c', {}])
    expect(() => runtime.session(nothing as never)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  const session = runtime.session(scope)
  for (const page of [{ after: -1 }, { after: 1.5 }, { limit: 0 }, { limit: Number.NaN }, { limit: '2' as never }])
    for (const read of [session.log(page), session.messages(page)])
      await expect(read).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await runtime.close()
})

it.each([null, 5, 'x', []])('has a code for options that are none: %j', async (given) => {
  const runtime = await openRuntime({ log: memoryLog(), model: echo })
  const session = runtime.session(scope)
  const job = await session.spawn('x')
  await job.outcome()
  const group = await session.group()
  const before = (await session.log()).length
  const none = given as never
  const refused = { code: 'INVALID_INPUT', details: { field: 'options' } }
  for (const command of [
    session.start('x', none),
    session.followUp('x', none),
    session.supersede('x', none),
    session.spawn('x', none),
    session.group(none),
    group.seal(none),
    group.cancel(none),
    session.await([job], none),
    session.await(group, none),
    session.steer('x', none),
    session.cancel(none),
    session.pause(none),
    session.resume('x', none),
    session.confirm('x', 'allow', none),
    session.unblock(job.id, none),
    session.replace(job.id, 'x', none),
    session.reduceGrant(job.id, 'tool:x', { level: 'none', confirm: 'none' }, none),
    session.acknowledge('all', none),
    session.close(none),
    session.erase(none),
    session.reopen(none),
    session.state(none),
    session.request(none),
    session.checkpoint(none),
    session.log(none),
    session.messages(none),
    session.ledger(none),
    session.memory.put('k', 1, none),
    session.memory.remove('k', none),
    session.memory.promote('k', none),
    runtime.restore({}, none),
  ])
    await expect(command).rejects.toMatchObject(refused)
  expect(() => runtime.events(scope, none)).toThrow(expect.objectContaining(refused))
  expect((await session.log()).length).toBe(before)
  await runtime.close()
})

it('has a code for what names no task and no group, and no task stays outside of the group that it was meant for', async () => {
  const runtime = await openRuntime({ log: memoryLog(), model: echo })
  const session = runtime.session(scope)
  const job = await session.spawn('x')
  await job.outcome()
  const before = (await session.log()).length
  for (const none of [undefined, null, 5, {}, [5], [null], new Set()]) {
    const awaited = none as never
    await expect(session.await(awaited)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    if (none === undefined) continue
    await expect(session.spawn('x', { group: awaited })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  }
  await expect(session.await([job], { deadline: 5 as never })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(session.group({ failfast: true } as never)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  expect((await session.log()).length).toBe(before)
  await runtime.close()
})
