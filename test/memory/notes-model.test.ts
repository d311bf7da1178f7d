import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Json, MemoryScope } from '../../machines/vocabulary.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime, type Runtime } from '../../src/runtime/open-runtime.ts'
import { verifyStore } from '../../src/testing/verify-store.ts'

const users = ['ann', 'bob'] as const
const sessions = ['one', 'two'] as const
const keys = ['a', 'b', '💡'] as const

const place = fc.record({ user: fc.constantFrom(...users), session: fc.constantFrom(...sessions) })
const key = fc.constantFrom(...keys)
const value = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ name: fc.constant('put' as const), place, key, value }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('remove' as const), place, key, scope: anyScope() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      name: fc.constant('promote' as const),
      place,
      key,
      to: fc.constantFrom('user' as const, 'tenant' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('restart' as const) }) },
)
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never

function anyScope() {
  return fc.constantFrom<MemoryScope>('session', 'user', 'tenant')
}

/** Where a note is for a reader, in a map that holds all memories. */
function slot(at: { user: string; session: string }, scope: MemoryScope, of: string): string {
  const owner = scope === 'session' ? [at.user, at.session] : scope === 'user' ? [at.user] : []
  return JSON.stringify([scope, ...owner, of])
}

/** One key is never promoted, another never taken away. */
const isAllowed = (action: 'promote' | 'remove', of: string) => of !== (action === 'promote' ? '💡' : 'b')

function expected(model: Map<string, Json>, operation: Exclude<Operation, { name: 'restart' }>): string {
  const { place: at, key: of } = operation
  if (operation.name === 'put') {
    model.set(slot(at, 'session', of), JSON.parse(JSON.stringify(operation.value)))
    return 'applied'
  }
  const from = operation.name === 'remove' ? operation.scope : 'session'
  const found = model.get(slot(at, from, of))
  if (found === undefined) return 'NOT_FOUND'
  const isShared = operation.name === 'promote' || from !== 'session'
  if (isShared && !isAllowed(operation.name, of)) return 'AUTHORIZATION_DENIED'
  if (operation.name === 'promote') model.set(slot(at, operation.to, of), found)
  else model.delete(slot(at, from, of))
  return 'applied'
}

async function perform(runtime: Runtime, operation: Exclude<Operation, { name: 'restart' }>): Promise<string> {
  const { memory } = runtime.session({ tenant: 't', ...operation.place })
  const done =
    operation.name === 'put'
      ? memory.put(operation.key, operation.value)
      : operation.name === 'remove'
        ? memory.remove(operation.key, { scope: operation.scope })
        : memory.promote(operation.key, { to: operation.to })
  return done.then(
    ({ result }) => result,
    (error: { code: string }) => error.code,
  )
}

async function compare(runtime: Runtime, model: Map<string, Json>): Promise<void> {
  for (const user of users)
    for (const session of sessions)
      for (const scope of ['session', 'user', 'tenant'] as const) {
        const { memory } = runtime.session({ tenant: 't', user, session })
        const present = keys.filter((of) => model.has(slot({ user, session }, scope, of)))
        expect((await memory.list(scope)).map((note) => note.key)).toEqual(present)
        for (const of of keys)
          expect(await memory.get(of, scope)).toEqual(model.get(slot({ user, session }, scope, of)))
      }
}

it('notes are a map for each owner, whatever is done in whatever order, and over restarts', {
  timeout: 120_000,
}, async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 40, size: 'max' }), async (operations) => {
      const log = memoryLog()
      const open = () =>
        openRuntime({
          log,
          model: scriptedModel({ name: 'none', otherwise: { text: '' } }),
          memoryPolicy: ({ action, key: of }) => (isAllowed(action, of) ? 'allow' : 'deny'),
        })
      let runtime = await open()
      const model = new Map<string, Json>()
      for (const each of operations) {
        if (each.name === 'restart') {
          await runtime.close()
          runtime = await open()
          continue
        }
        const outcome = expected(model, each)
        seen.add(`${each.name} ${outcome}`)
        expect(await perform(runtime, each)).toBe(outcome)
      }
      await compare(runtime, model)
      await runtime.close()
      for await (const { violations } of verifyStore(log)) expect(violations).toEqual([])
    }),
    { seed: 20, numRuns: process.env.LANDFALL_SOAK === undefined ? 40 : 2_000 },
  )
  expect([...seen].sort()).toEqual([
    'promote AUTHORIZATION_DENIED',
    'promote NOT_FOUND',
    'promote applied',
    'put applied',
    'remove AUTHORIZATION_DENIED',
    'remove NOT_FOUND',
    'remove applied',
  ])
})
