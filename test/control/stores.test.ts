import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { unpackStep } from '../../src/facts/codec.ts'
import type { StoredFact } from '../../src/facts/envelope.ts'
import type { Log } from '../../src/facts/log-port.ts'
import { controlScope } from '../../src/facts/scope.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import { verifyStore } from '../../src/testing/verify-store.ts'
import { runtimesOn, scope, stores, until } from '../inbox/kit/two-runtimes.ts'
import { refusal } from '../runtime/kit/check.ts'

async function controlFacts(log: Log): Promise<readonly StoredFact[]> {
  return (await log.read(controlScope, { limit: 1_000 })).flatMap((step) => [...unpackStep(step)])
}

/** Says that it was called; the fourth step of the model comes only after the others have had their time. */
function counting(): { readonly count: () => number; readonly tool: ReturnType<typeof defineTool> } {
  let calls = 0
  const tool = defineTool({
    name: 'pay',
    description: 'Counts its calls.',
    input: z.strictObject({ id: z.string() }),
    effect: 'mutate',
    run: async () => {
      calls += 1
      return 'paid'
    },
  })
  return { count: () => calls, tool }
}

/** INV-21, for listings: whoever looks over users or tenants leaves a record, also when nothing is found. */
describe.each(stores)('the control stream of a %s store', (_name, openStore) => {
  it('reaches tasks that run in another runtime', async () => {
    const store = openStore()
    const open = runtimesOn(store)
    const { count, tool } = counting()
    const pay = (id: string, delayMs: number) => ({ delayMs, calls: [{ name: 'pay', arguments: { id } }] })
    const script = { name: 'scripted', turns: [[pay('1', 0), pay('2', 300), { text: 'done' }]] }
    const worker = await open({ model: scriptedModel(script), catalog: [tool] })
    const other = await open({ catalog: [tool] })
    const task = await worker.session(scope).start('pay twice')
    await until(() => count() === 1, 'the first payment')
    await other.catalog.revoke('pay', 'ann')
    expect((await task.outcome()).status).toBe('completed')
    expect(count()).toBe(1)
    const facts = await worker.session(scope).log()
    expect(facts.filter((fact) => fact.type === 'call.refused').map((fact) => fact.data.code)).toEqual([
      'CAPABILITY_REVOKED',
    ])
    expect(checkLog(facts).violations).toEqual([])
    const log = store()
    for await (const verdict of verifyStore(log)) expect(verdict.violations).toEqual([])
  })

  it('records every wide listing, also one that finds nothing, and no plain one', async () => {
    const store = openStore()
    const runtime = await runtimesOn(store)()
    const log = store()
    await runtime.session(scope).start('hello')
    await runtime.session({ ...scope, user: 'other' }).start('hello')
    expect((await runtime.sessions({ tenant: 't', user: 'u' })).map((entry) => entry.user)).toEqual(['u'])
    expect(await controlFacts(log)).toEqual([])
    const inTenant = await runtime.sessions({ tenant: 't', elevated: { actor: 'ann', scope: 'tenant' } })
    expect(inTenant.map((entry) => entry.user)).toEqual(['other', 'u'])
    expect(await runtime.sessions({ tenant: 'nobody', elevated: { actor: 'ann', scope: 'tenant' } })).toEqual([])
    const fleet = await runtime.sessions({ elevated: { actor: 'bob', scope: 'fleet' } })
    expect(fleet.map((entry) => entry.tenant)).toEqual(['t', 't'])
    expect((await controlFacts(log)).map((fact) => [fact.type, fact.data, fact.by])).toEqual([
      [
        'audit.elevated',
        { actor: 'ann', surface: 'sessions', filter: { tenant: 't', scope: 'tenant' } },
        { kind: 'operator', id: 'ann' },
      ],
      [
        'audit.elevated',
        { actor: 'ann', surface: 'sessions', filter: { tenant: 'nobody', scope: 'tenant' } },
        { kind: 'operator', id: 'ann' },
      ],
      [
        'audit.elevated',
        { actor: 'bob', surface: 'sessions', filter: { scope: 'fleet' } },
        { kind: 'operator', id: 'bob' },
      ],
    ])
    expect(checkLog(await controlFacts(log)).violations).toEqual([])
    const verdicts = []
    for await (const verdict of verifyStore(log)) verdicts.push([verdict.tenant, verdict.facts, verdict.violations])
    expect(verdicts).toContainEqual(['_control', 3, []])
  })

  it('cannot be named by anybody, nor listed wider than a claim allows', async () => {
    const runtime = await runtimesOn(openStore())()
    for (const part of ['tenant', 'user', 'session'] as const)
      expect(await refusal(() => runtime.session({ ...scope, [part]: '_control' }).log())).toMatchObject({
        code: 'INVALID_INPUT',
      })
    expect(await refusal(() => runtime.session(controlScope).start('hello'))).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await refusal(() => runtime.sessions({ tenant: '_control', user: '_control' }))).toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(() => runtime.events(controlScope)).toThrow()
    for (const [filter, field] of [
      [{}, 'tenant'],
      [{ user: 'u' }, 'tenant'],
      [{ tenant: 't' }, 'user'],
      [{ elevated: { actor: 'ann', scope: 'tenant' } }, 'tenant'],
    ] as const)
      expect(await refusal(() => runtime.sessions(filter))).toMatchObject({
        code: 'IDENTITY_REQUIRED',
        details: { field },
      })
    const elevated = { actor: '_ann', scope: 'fleet' } as const
    expect(await refusal(() => runtime.sessions({ elevated }))).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await refusal(() => runtime.catalog.disableProvider('p', '_ann'))).toMatchObject({ code: 'INVALID_INPUT' })
  })
})
