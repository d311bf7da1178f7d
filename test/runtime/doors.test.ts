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
