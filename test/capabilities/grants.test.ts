import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isWithin, narrowerGrant } from '../../machines/grant-order.ts'
import type { Confirm, Grant, Level } from '../../machines/vocabulary.ts'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { refusal } from '../runtime/kit/check.ts'
import { factsOf, quickTool, rigWith, verifyAll } from './kit.ts'

const levels: readonly Level[] = ['none', 'discover', 'inspect', 'load', 'execute']
const confirms: readonly Confirm[] = ['none', 'once', 'each']
const grants = fc.record({ level: fc.constantFrom(...levels), confirm: fc.constantFrom(...confirms) })

/** INV-10: what a task may do only shrinks. */
describe('the ceiling of a task', () => {
  it('shrinks at once for the next call, and says so with what was before', async () => {
    const rig = await rigWith([quickTool('look')])
    const handle = await rig.session.start('look')
    const first = await rig.model.next()
    const receipt = await rig.session.reduceGrant(handle.id, 'tool:look', { level: 'load', confirm: 'once' })
    expect(receipt).toMatchObject({ result: 'applied', task: handle.id })
    expect(await rig.session.reduceGrant(handle.id, 'tool:look', { level: 'load', confirm: 'once' })).toMatchObject({
      result: 'joined',
    })
    first.calls(['look'])
    await rig.model.next()
    expect((await factsOf(rig, 'call.refused')).map(({ data }) => data.code)).toEqual(['AUTHORIZATION_DENIED'])
    expect((await factsOf(rig, 'grant.reduced')).map(({ data }) => data)).toEqual([
      { id: 'tool:look', before: { level: 'execute', confirm: 'none' }, after: { level: 'load', confirm: 'once' } },
    ])
    await verifyAll(rig)
  })

  it('never grows', async () => {
    const rig = await rigWith([quickTool('look')])
    const handle = await rig.session.start('look', { grants: { 'tool:look': { level: 'inspect', confirm: 'once' } } })
    const reduce = (grant: Grant, id = 'tool:look') => refusal(rig.session.reduceGrant(handle.id, id, grant))
    expect(await reduce({ level: 'load', confirm: 'once' })).toMatchObject({ code: 'CEILING_CANNOT_GROW' })
    expect(await reduce({ level: 'none', confirm: 'none' })).toMatchObject({ code: 'CEILING_CANNOT_GROW' })
    expect(await reduce({ level: 'none', confirm: 'each' }, 'tool:other')).toMatchObject({ code: 'NOT_FOUND' })
    ;(await rig.model.next()).text('seen')
    await rig.time.settle()
    expect(await reduce({ level: 'none', confirm: 'each' })).toMatchObject({ code: 'TASK_NOT_ACTIVE' })
    expect(await factsOf(rig, 'grant.reduced')).toEqual([])
    await verifyAll(rig)
  })

  it('only shrinks, whatever is asked for', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(grants, { maxLength: 12 }), async (asked) => {
        const rig = await rigWith([quickTool('look')])
        const handle = await rig.session.start('look')
        for (const grant of asked)
          await rig.session
            .reduceGrant(handle.id, 'tool:look', grant)
            .catch((error: unknown) => expect(error).toMatchObject({ code: 'CEILING_CANNOT_GROW' }))
        let ceiling: Grant = { level: 'execute', confirm: 'none' }
        for (const { data } of await factsOf(rig, 'grant.reduced')) {
          expect(data.before).toEqual(ceiling)
          expect(isWithin(ceiling, data.after)).toBe(true)
          expect(data.after).not.toEqual(ceiling)
          ceiling = data.after
        }
        expect((await rig.session.state()).grants[handle.id]?.['tool:look']).toEqual(ceiling)
        await verifyAll(rig)
      }),
      { numRuns: 30, seed: 5 },
    )
  })
})

it('the narrower of two grants is within both', () => {
  fc.assert(
    fc.property(grants, grants, (left, right) => {
      const both = narrowerGrant(left, right)
      expect(isWithin(left, both) && isWithin(right, both)).toBe(true)
      expect(narrowerGrant(left, left)).toEqual(left)
    }),
  )
})

describe('confirmations', () => {
  it('asked for once are asked for once a task, and each time otherwise', async () => {
    const rig = await rigWith([quickTool('one', { confirm: 'once' }), quickTool('all', { confirm: 'each' })])
    await rig.session.start('go')
    for (const id of ['a', 'b']) {
      ;(await rig.model.next()).calls(['one', { id }], ['all', { id }])
      await rig.time.settle()
      for (const { token } of await rig.session.pauses()) await rig.session.confirm(token, 'allow')
      await rig.time.settle()
    }
    expect((await factsOf(rig, 'pause.requested')).map(({ data }) => data.subject)).toEqual(['one', 'all', 'all'])
    await verifyAll(rig)
  })

  it('are not given to what is none, and what is asked stays open', async () => {
    const rig = await rigWith([quickTool('ask', { run: (_, { pause }) => pause({ reason: 'input' }) })])
    await rig.session.start('go')
    ;(await rig.model.next()).calls(['ask'])
    await rig.time.settle()
    const [pause] = await rig.session.pauses()
    expect(await refusal(rig.session.confirm(pause?.token ?? '', 'allow'))).toMatchObject({
      code: 'CONFIRMATION_MISMATCH',
    })
    expect((await rig.session.pauses()).map(({ token }) => token)).toEqual([pause?.token])
    await verifyAll(rig)
  })
})

it('a successor is told of effects only where it may inspect', async () => {
  const rig = await rigWith([quickTool('seen', { effect: 'mutate' }), quickTool('named'), quickTool('hidden')], {
    limits: { graceMs: 0 },
  })
  await rig.session.start('go')
  ;(await rig.model.next()).calls(['seen'], ['named'], ['hidden'])
  await rig.model.next()
  const level = (of: Level) => ({ level: of, confirm: 'none' }) as const
  await rig.session.supersede('go on', { grants: { 'tool:named': level('discover'), 'tool:hidden': level('none') } })
  const [note] = (await rig.model.next()).request.messages.filter(({ role }) => role === 'system')
  expect(note?.content).toContain('Capabilities it used: named, seen (mutate).')
  await verifyAll(rig)
})

it.each([
  [{ level: 'god', confirm: 'none' }],
  [{ level: 'execute', confirm: 'always' }],
  [Promise.resolve({ level: 'execute', confirm: 'none' })],
  [null],
])('a policy whose answer is no grant denies: %j', async (answer) => {
  const tool = defineTool({ name: 'look', description: 'Looks.', input: z.object({}), run: async () => 'seen' })
  const model = scriptedModel({ name: 'm', turns: [[{ calls: [{ name: 'look', arguments: {} }] }, { text: 'done' }]] })
  const policy = () => answer as never
  const runtime = await openRuntime({ log: memoryLog(), model, catalog: [tool], policy })
  const session = runtime.session({ tenant: 't', user: 'u', session: 's' })
  expect((await (await session.start('look')).outcome()).status).toBe('completed')
  const facts = await session.log()
  expect(facts.some((fact) => fact.type === 'call.started')).toBe(false)
  await runtime.close()
})
