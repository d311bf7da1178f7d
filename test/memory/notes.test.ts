import { expect, it } from 'vitest'
import type { Json } from '../../machines/vocabulary.ts'
import type { Session } from '../../src/runtime/session.ts'
import { verifyStore } from '../../src/testing/verify-store.ts'
import { runtimesOn, scope, stores } from '../inbox/kit/two-runtimes.ts'
import { refusal } from '../runtime/kit/check.ts'

it.each(stores)('keeps notes of a session over a restart, on a %s store', async (_name, openStore) => {
  const store = openStore()
  const open = runtimesOn(store)
  const first = await open()
  const { memory } = first.session(scope)
  expect(await memory.get('plan')).toBeUndefined()
  expect((await memory.put('plan', { steps: ['tea', 1, null] })).result).toBe('applied')
  await memory.put('plan', { steps: ['cake'] })
  await memory.put('ünïcode 🍰', false)
  await memory.put('gone', 'soon')
  await memory.remove('gone')
  await first.close()
  const second = await open()
  const again = second.session(scope).memory
  expect(await again.get('plan')).toEqual({ steps: ['cake'] })
  expect(await again.get('gone')).toBeUndefined()
  expect(await again.list()).toEqual([
    { key: 'plan', bytes: 18 },
    { key: 'ünïcode 🍰', bytes: 5 },
  ])
  expect(await refusal(again.remove('gone'))).toMatchObject({ code: 'NOT_FOUND' })
  const log = store()
  for await (const verdict of verifyStore(log)) expect(verdict.violations).toEqual([])
})

it('holds keys and values in no fact, and a secret least of all (INV-12)', async () => {
  const store = stores[0]?.[1]() ?? (() => expect.unreachable())
  const runtime = await runtimesOn(store)({ memoryPolicy: () => 'allow' })
  const session = runtime.session(scope)
  const secret = 'sk-live-0123456789abcdefghijABCDEFGHIJ'
  await session.memory.put(secret, { password: secret })
  await session.memory.promote(secret, { to: 'user' })
  const log = store()
  const facts = (await log.tail(0, 1_000)).map(({ body }) => body).join('')
  expect(facts).toContain('memory.promoted')
  expect(facts).not.toContain(secret)
  expect(facts).not.toContain('password')
  expect(await session.memory.get(secret)).toEqual({ password: secret })
  expect(await session.memory.get(secret, 'user')).toEqual({ password: secret })
})

it('refuses what is beyond its bounds, and changes nothing', async () => {
  const runtime = await runtimesOn(stores[0]?.[1]() ?? (() => expect.unreachable()))({
    limits: { memoryItems: 2, memoryKeyChars: 8, memoryValueBytes: 16 },
  })
  const { memory } = runtime.session(scope)
  await memory.put('a', 1)
  await memory.put('b', 2)
  expect(await refusal(memory.put('c', 3))).toMatchObject({
    code: 'LIMIT_EXCEEDED',
    details: { which: 'memoryItems', bound: 2, got: 3 },
  })
  await memory.put('b', 'within')
  expect(await refusal(memory.put('ninechars', 1))).toMatchObject({
    code: 'LIMIT_EXCEEDED',
    details: { which: 'memoryKeyChars', bound: 8, got: 9 },
  })
  expect(await refusal(memory.put('a', 'ä'.repeat(8)))).toMatchObject({
    code: 'LIMIT_EXCEEDED',
    details: { which: 'memoryValueBytes', bound: 16, got: 18 },
  })
  const circular: { self?: unknown } = {}
  circular.self = circular
  const odd = [undefined, Number.NaN, new Date(0), circular, '\ud800', () => 1, { deep: [undefined] }]
  for (const value of odd)
    expect(await refusal(memory.put('a', value as Json))).toMatchObject({ code: 'INVALID_INPUT' })
  for (const key of ['', '\ud800', 'a\nb', 7]) {
    expect(await refusal(memory.put(key as string, 1))).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await refusal(memory.get(key as string))).toMatchObject({ code: 'INVALID_INPUT' })
  }
  expect(await refusal(memory.get('a', 'world' as 'user'))).toMatchObject({ code: 'INVALID_INPUT' })
  expect(await memory.list()).toEqual([
    { key: 'a', bytes: 1 },
    { key: 'b', bytes: 8 },
  ])
})

it('answers a repeated command with its first receipt', async () => {
  const runtime = await runtimesOn(stores[0]?.[1]() ?? (() => expect.unreachable()))()
  const { memory } = runtime.session(scope)
  const first = await memory.put('k', 'v', { commandId: 'one' })
  expect(await memory.put('k', 'v', { commandId: 'one' })).toEqual({ ...first, result: 'duplicate' })
  expect(await refusal(memory.put('k', 'w', { commandId: 'one' }))).toMatchObject({ code: 'COMMAND_CONFLICT' })
  await memory.remove('k', { commandId: 'two' })
  expect((await memory.remove('k', { commandId: 'two' })).result).toBe('duplicate')
})

it('goes with an erased session, and takes nothing in a closed one', async () => {
  const store = stores[1]?.[1]() ?? (() => expect.unreachable())
  const runtime = await runtimesOn(store)()
  const session = runtime.session(scope)
  await session.memory.put('k', 'what nobody may read later')
  await session.close()
  expect(await refusal(session.memory.put('k', 2))).toMatchObject({ code: 'SESSION_CLOSED' })
  expect(await refusal(session.memory.remove('k'))).toMatchObject({ code: 'SESSION_CLOSED' })
  expect(await session.memory.get('k')).toBe('what nobody may read later')
  const [put] = (await session.log()).filter((fact) => fact.type === 'memory.put')
  await session.erase()
  expect(await session.memory.get('k')).toBeUndefined()
  expect(await session.memory.list()).toEqual([])
  expect(await refusal(session.memory.put('k', 2))).toMatchObject({ code: 'SESSION_ERASED' })
  const log = store()
  const refs = [{ digest: put?.data.digest ?? '', step: put?.step ?? 0 }]
  expect(await log.content(scope, refs)).toEqual([null])
  for await (const verdict of verifyStore(log)) expect(verdict).toMatchObject({ violations: [], erased: 0 })
})

it('reaches a session that another process works on, through its inbox', async () => {
  const store = stores[1]?.[1]() ?? (() => expect.unreachable())
  const open = runtimesOn(store)
  const [owner, other] = [await open(), await open()]
  await owner.session(scope).start('work on')
  expect((await other.session(scope).memory.put('plan', ['tea'], { commandId: 'from afar' })).result).toBe('applied')
  expect(await owner.session(scope).memory.get('plan')).toEqual(['tea'])
  expect(await other.session(scope).memory.get('plan')).toEqual(['tea'])
  expect((await owner.session(scope).log()).filter(({ type }) => type === 'memory.put').length).toBe(1)
  await owner.session(scope).cancel()
})

it('keeps every name of a value, over a restart and in a checkpoint', async () => {
  const store = stores[0]?.[1]() ?? (() => expect.unreachable())
  const open = runtimesOn(store)
  const first = await open()
  const text = '{"__proto__":{"a":1},"b":["c"]}'
  await first.session(scope).memory.put('odd', JSON.parse(text))
  const read = async (session: Session) => JSON.stringify(await session.memory.get('odd'))
  expect(await read(first.session(scope))).toBe(text)
  await first.close()
  const second = await open()
  expect(await read(second.session(scope))).toBe(text)
  const other = await runtimesOn(stores[0]?.[1]() ?? store)()
  expect(await read(await other.restore(await second.session(scope).checkpoint()))).toBe(text)
})
