import { describe, expect, it } from 'vitest'
import { unpackStep } from '../../src/facts/codec.ts'
import type { StoredFact } from '../../src/facts/envelope.ts'
import type { Log } from '../../src/facts/log-port.ts'
import { controlScope } from '../../src/facts/scope.ts'
import type { MemoryQuestion } from '../../src/runtime/options.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import { verifyStore } from '../../src/testing/verify-store.ts'
import { runtimesOn, scope, stores } from '../inbox/kit/two-runtimes.ts'
import { refusal } from '../runtime/kit/check.ts'

async function controlFacts(log: Log): Promise<readonly StoredFact[]> {
  return (await log.read(controlScope, { limit: 1_000 })).flatMap((step) => [...unpackStep(step)])
}

const decisions = (facts: readonly StoredFact[]) =>
  facts.flatMap(({ type, data }) =>
    type.startsWith('memory.') ? [[type, (data as { decision?: string }).decision]] : [],
  )

async function verified(log: Log): Promise<void> {
  for await (const verdict of verifyStore(log)) expect(verdict.violations).toEqual([])
}

describe.each(stores)('promotion on a %s store', (_name, openStore) => {
  it('is denied without a policy, by one that throws, and by one that answers anything else; each is recorded', async () => {
    const store = openStore()
    const open = runtimesOn(store)
    const policies = [
      {},
      { memoryPolicy: () => 'deny' as const },
      { memoryPolicy: () => Promise.reject(new Error('no')) },
      { memoryPolicy: () => true as never },
    ]
    for (const policy of policies) {
      const runtime = await open(policy)
      const { memory } = runtime.session(scope)
      await memory.put('k', 'v')
      expect(await refusal(memory.promote('k', { to: 'user' }))).toMatchObject({ code: 'AUTHORIZATION_DENIED' })
      expect(await memory.get('k', 'user')).toBeUndefined()
      await runtime.close()
    }
    const log = store()
    const facts = await controlFacts(log)
    expect(decisions(facts)).toEqual(policies.map(() => ['memory.promoted', 'denied']))
    expect(facts[0]).toMatchObject({ by: { kind: 'operator', id: 'u' }, data: { of: scope, scope: 'user' } })
    await verified(log)
  })

  it('shows a note to the sessions of its user or tenant, and to nobody else (INV-21)', async () => {
    const store = openStore()
    const open = runtimesOn(store)
    const asked: MemoryQuestion[] = []
    const memoryPolicy = (question: MemoryQuestion) => {
      asked.push(question)
      return question.key === 'shared' ? ('allow' as const) : ('deny' as const)
    }
    const runtime = await open({ memoryPolicy })
    const { memory } = runtime.session(scope)
    await memory.put('shared', { of: 'the user' })
    expect((await memory.promote('shared', { to: 'user' })).result).toBe('applied')
    await memory.put('shared', { of: 'the tenant' })
    await memory.promote('shared', { to: 'tenant' })
    await memory.put('shared', { of: 'the session' })
    expect(asked.map(({ action, to, value }) => [action, to, value])).toEqual([
      ['promote', 'user', { of: 'the user' }],
      ['promote', 'tenant', { of: 'the tenant' }],
    ])
    await runtime.close()
    const other = await open({ memoryPolicy })
    const seen = async (at: typeof scope) => {
      const notes = other.session(at).memory
      return [await notes.get('shared'), await notes.get('shared', 'user'), await notes.get('shared', 'tenant')]
    }
    const [own, user, tenant] = ['session', 'user', 'tenant'].map((of) => ({ of: `the ${of}` }))
    expect(await seen(scope)).toEqual([own, user, tenant])
    expect(await seen({ ...scope, session: 'later' })).toEqual([undefined, user, tenant])
    expect(await seen({ ...scope, user: 'other' })).toEqual([undefined, undefined, tenant])
    expect(await seen({ ...scope, tenant: 'other' })).toEqual([undefined, undefined, undefined])
    const stranger = other.session({ ...scope, tenant: 'other' }).memory
    const absent = await refusal(stranger.remove('never noted', { scope: 'user' }))
    expect(await refusal(stranger.remove('shared', { scope: 'user' }))).toEqual(absent)
    expect(await refusal(stranger.promote('shared', { to: 'tenant' }))).toEqual(absent)
    expect(await stranger.list('tenant')).toEqual([])
    expect(await other.session(scope).memory.list('user')).toEqual([{ key: 'shared', bytes: 17 }])
    await verified(store())
  })

  it('takes a note away again by the same policy, and by no other way', async () => {
    const store = openStore()
    const open = runtimesOn(store)
    let answer: 'allow' | 'deny' = 'allow'
    const runtime = await open({ memoryPolicy: () => answer })
    const { memory } = runtime.session(scope)
    await memory.put('k', 1)
    await memory.promote('k', { to: 'tenant' })
    answer = 'deny'
    expect(await refusal(memory.remove('k', { scope: 'tenant' }))).toMatchObject({ code: 'AUTHORIZATION_DENIED' })
    expect(await memory.get('k', 'tenant')).toBe(1)
    answer = 'allow'
    await memory.remove('k', { scope: 'tenant', commandId: 'away' })
    expect(await memory.get('k', 'tenant')).toBeUndefined()
    expect((await memory.remove('k', { scope: 'tenant', commandId: 'away' })).result).toBe('duplicate')
    expect(await memory.get('k')).toBe(1)
    const log = store()
    expect(decisions(await controlFacts(log))).toEqual([
      ['memory.promoted', 'allowed'],
      ['memory.put', undefined],
      ['memory.removed', 'denied'],
      ['memory.removed', 'allowed'],
    ])
    expect(checkLog(await controlFacts(log)).violations).toEqual([])
    await verified(log)
  })

  it('repeats a command once, bounds each memory, and survives two writers', async () => {
    const store = openStore()
    const open = runtimesOn(store)
    const options = { memoryPolicy: () => 'allow' as const, limits: { memoryItems: 2 } }
    const [one, two] = [await open(options), await open(options)]
    const left = one.session(scope).memory
    const right = two.session({ ...scope, session: 'right' }).memory
    await left.put('a', 1)
    await right.put('b', 2)
    await right.put('c', 3)
    await Promise.all([left.promote('a', { to: 'user', commandId: 'x' }), right.promote('b', { to: 'user' })])
    expect(await left.list('user')).toEqual(await right.list('user'))
    expect((await left.list('user')).map(({ key }) => key)).toEqual(['a', 'b'])
    expect((await left.promote('a', { to: 'user', commandId: 'x' })).result).toBe('duplicate')
    expect(await refusal(left.promote('a', { to: 'tenant', commandId: 'x' }))).toMatchObject({
      code: 'COMMAND_CONFLICT',
    })
    expect(await refusal(right.promote('c', { to: 'user' }))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { which: 'memoryItems', bound: 2, got: 3 },
    })
    await right.promote('c', { to: 'tenant' })
    expect(await left.get('c', 'tenant')).toBe(3)
    await verified(store())
  })
})
