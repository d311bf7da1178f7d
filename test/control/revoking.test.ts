import { describe, expect, it } from 'vitest'
import { unpackStep } from '../../src/facts/codec.ts'
import type { StoredFact } from '../../src/facts/envelope.ts'
import type { Log } from '../../src/facts/log-port.ts'
import { controlScope } from '../../src/facts/scope.ts'
import { ControlStream } from '../../src/runtime/control-stream.ts'
import { openRuntime, type Runtime } from '../../src/runtime/open-runtime.ts'
import { resolveHost } from '../../src/runtime/options.ts'
import { StoreControl } from '../../src/runtime/store-control.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import { verifyStore } from '../../src/testing/verify-store.ts'
import { checkAll, refusal } from '../runtime/kit/check.ts'
import { openRig, type Rig, scope } from '../runtime/kit/rig.ts'

const tools = {
  look: { effect: 'read' },
  pay: { effect: 'mutate' },
  wire: { effect: 'mutate', confirm: 'each' },
} as const

async function controlFacts(log: Log): Promise<readonly StoredFact[]> {
  return (await log.read(controlScope, { limit: 1_000 })).flatMap((step) => [...unpackStep(step)])
}

/** A second runtime on the store of the rig; the rig goes on with its first. */
async function beside(rig: Rig): Promise<Runtime> {
  const first = rig.runtime
  await rig.open()
  const second = rig.runtime
  rig.use(first)
  return second
}

async function state(rig: Rig): Promise<unknown> {
  await rig.time.settle()
  const task = (await rig.session.tasks())[0]
  return task?.status ?? task?.state
}

function startedUnder(facts: readonly StoredFact[]): readonly number[] {
  return facts.flatMap((fact) => (fact.type === 'call.started' ? [fact.data.control] : []))
}

describe('a capability that is revoked', () => {
  it.each(['pay', 'tool:pay'])('is refused at once to a task that runs (%s)', async (name) => {
    const rig = await openRig({ tools })
    await rig.session.start('pay')
    const request = await rig.model.next()
    await rig.runtime.catalog.revoke(name, 'ann')
    request.calls(['pay'], ['look'])
    await rig.time.settle()
    expect((await rig.steps()).at(-1)).toContain('call.refused C1 {CAPABILITY_REVOKED} · call.started C2')
    ;(await rig.tool('look').next()).returns()
    ;(await rig.model.next()).text('not paid')
    expect(await state(rig)).toBe('completed')
    expect(rig.tool('pay').calls.length).toBe(0)
    expect(await controlFacts(rig.store)).toMatchObject([
      { ...scope, ...controlScope, seq: 1, type: 'capability.revoked', data: { id: 'tool:pay' }, by: { id: 'ann' } },
    ])
    await checkAll(rig)
  })

  it('leaves a call that runs, and is not offered to the next turn', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('pay')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    await rig.runtime.catalog.revoke('pay')
    call.returns('paid')
    ;(await rig.model.next()).text('paid')
    expect(await state(rig)).toBe('completed')
    await rig.session.start('again')
    const request = await rig.model.next()
    expect(request.request.tools.map((tool) => tool.name)).not.toContain('pay')
    request.text('no such tool')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('stays so over a restart', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('pay')
    await rig.model.next()
    await rig.runtime.catalog.revoke('pay')
    await rig.crashAndReopen()
    ;(await rig.model.next()).calls(['pay'])
    ;(await rig.model.next()).text('not paid')
    expect(await state(rig)).toBe('completed')
    expect(rig.tool('pay').calls.length).toBe(0)
    await checkAll(rig)
  })

  it('that the catalog does not have is NOT_FOUND', async () => {
    const rig = await openRig({ tools })
    expect(await refusal(rig.runtime.catalog.revoke('no-such-tool'))).toMatchObject({ code: 'NOT_FOUND' })
    expect(await refusal(() => rig.runtime.catalog.disableProvider('_mine'))).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await controlFacts(rig.store)).toEqual([])
  })
})

describe('a provider that is disabled', () => {
  it('is refused until it is enabled again', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('look around')
    const first = await rig.model.next()
    const started = (await rig.facts()).find((fact) => fact.type === 'task.started')
    const provider = started?.data.capabilities[0]?.provider ?? ''
    await rig.runtime.catalog.disableProvider(provider)
    first.calls(['look', { id: '1' }])
    const second = await rig.model.next()
    expect(second.lastMessage?.content).toContain('PROVIDER_DISABLED')
    await rig.runtime.catalog.enableProvider(provider)
    second.calls(['look', { id: '2' }])
    ;(await rig.tool('look').next()).returns()
    ;(await rig.model.next()).text('seen')
    expect(await state(rig)).toBe('completed')
    expect((await controlFacts(rig.store)).map((fact) => fact.type)).toEqual(['provider.disabled', 'provider.enabled'])
    await checkAll(rig)
  })
})

describe('a word of another runtime on the store', () => {
  it('counts before this one has heard of it: the step that would start a call is decided again', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('pay')
    const request = await rig.model.next()
    const other = await beside(rig)
    await other.catalog.revoke('pay')
    request.calls(['pay'], ['look'])
    await rig.time.settle()
    expect((await rig.steps()).at(-1)).toContain('call.refused C1 {CAPABILITY_REVOKED} · call.started C2')
    expect(startedUnder(await rig.facts())).toEqual([1])
    ;(await rig.tool('look').next()).returns()
    ;(await rig.model.next()).text('not paid')
    expect(await state(rig)).toBe('completed')
    expect(rig.tool('pay').calls.length).toBe(0)
    await checkAll(rig)
  })

  it('is minded by an approval too, which is one command all the same', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('wire')
    ;(await rig.model.next()).calls(['wire', { id: '1' }], ['wire', { id: '2' }])
    await rig.time.settle()
    const tokens = (await rig.session.pauses()).map((pause) => pause.token).reverse()
    const other = await beside(rig)
    await other.catalog.revoke('look')
    const receipt = await rig.session.confirm(tokens[0] ?? '', 'allow', { commandId: 'c-1' })
    expect(receipt.result).toBe('applied')
    expect(startedUnder(await rig.facts())).toEqual([1])
    ;(await rig.tool('wire').next()).returns()
    await rig.time.settle()
    await other.catalog.revoke('wire')
    await rig.session.confirm(tokens[1] ?? '', 'allow')
    ;(await rig.model.next()).text('one of two')
    expect(await state(rig)).toBe('completed')
    expect(rig.tool('wire').calls.length).toBe(1)
    expect((await rig.facts()).filter((fact) => fact.type === 'pause.settled').length).toBe(2)
    await checkAll(rig)
  })

  it('is minded by a recovery', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('look')
    ;(await rig.model.next()).calls(['look'])
    await rig.tool('look').next()
    rig.crash()
    const host = resolveHost({ log: rig.store, model: rig.model, clock: rig.time, scheduler: rig.time })
    const control = new StoreControl(host, new ControlStream(host))
    let appends = 0
    const log = new Proxy(rig.store, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property, target)
        if (typeof value !== 'function') return value
        if (property !== 'append') return value.bind(target)
        return async (steps: Parameters<Log['append']>[0]) => {
          if (steps.some((step) => step.control !== undefined)) {
            appends += 1
            if (appends === 1) await control.disableProvider('somebody')
          }
          return target.append(steps)
        }
      },
    })
    const catalog = Object.values(rig.tools).map((tool) => tool.definition)
    const runtime = await openRuntime({ model: rig.model, catalog, clock: rig.time, scheduler: rig.time, log })
    rig.use(runtime)
    const again = await rig.tool('look').next()
    expect([appends, again.context.attempt]).toEqual([2, 2])
    expect(startedUnder(await rig.facts())).toEqual([0, 1])
    again.returns()
    ;(await rig.model.next()).text('seen')
    expect(await state(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('is one of many that are written at once: none is lost, and the chain holds', async () => {
    const rig = await openRig({ tools })
    const others = [rig.runtime, await beside(rig), await beside(rig)]
    await Promise.all(Array.from({ length: 30 }, (_, at) => others[at % 3]?.catalog.disableProvider(`provider-${at}`)))
    await Promise.all(Array.from({ length: 30 }, (_, at) => others[at % 3]?.catalog.enableProvider(`provider-${at}`)))
    const facts = await controlFacts(rig.store)
    expect(new Set(facts.map((fact) => `${fact.type} ${JSON.stringify(fact.data)}`)).size).toBe(60)
    expect(facts.map((fact) => fact.seq)).toEqual(facts.map((_, at) => at + 1))
    expect(checkLog(facts).violations).toEqual([])
    for await (const verdict of verifyStore(rig.store)) expect(verdict.violations).toEqual([])
  })
})
