import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Catalog } from '../../src/capabilities/catalog.ts'
import { defineSkill } from '../../src/capabilities/define-skill.ts'
import { defineTool } from '../../src/capabilities/define-tool.ts'

const tool = (more: { name?: string; effect?: 'read' | 'mutate'; input?: z.ZodType } = {}) =>
  defineTool({
    name: more.name ?? 'order',
    description: 'Orders.',
    input: (more.input ?? z.strictObject({ sku: z.string(), count: z.number() })) as z.ZodObject,
    effect: more.effect ?? 'mutate',
    run: () => 'done',
  })

const refOf = (catalog: Catalog, id: string) => {
  const entry = catalog.get(id)
  if (entry === null) throw new Error(`the catalog has no ${id}`)
  return entry.ref
}

describe('contracts', () => {
  it('do not depend on the order of keys, and change with the schema and the effect', () => {
    const contract = (of: ReturnType<typeof tool>) => refOf(new Catalog([of]), 'tool:order').contract
    const plain = contract(tool())
    expect(contract(tool({ input: z.strictObject({ count: z.number(), sku: z.string() }) }))).toBe(plain)
    expect(contract(tool({ effect: 'read' }))).not.toBe(plain)
    expect(contract(tool({ input: z.strictObject({ sku: z.string() }) }))).not.toBe(plain)
  })

  it('of a skill change with its manifest and with its body', () => {
    const of = (description: string, body: string) =>
      refOf(new Catalog([defineSkill({ name: 's', description, body })]), 'skill:s').contract
    expect(of('a', 'b')).toBe(of('a', 'b'))
    expect(of('a', 'c')).not.toBe(of('a', 'b'))
    expect(of('c', 'b')).not.toBe(of('a', 'b'))
  })
})

describe('generations', () => {
  it('make every reference of the one before stale', () => {
    const catalog = new Catalog([tool()])
    const ref = refOf(catalog, 'tool:order')
    expect(catalog.current(ref)?.name).toBe('order')
    catalog.replace([tool()])
    expect(catalog.generation).toBe(2)
    expect(catalog.current(ref)).toBeNull()
    expect(catalog.current(refOf(catalog, 'tool:order'))?.name).toBe('order')
  })

  it('a reference that differs in anything is stale', () => {
    const catalog = new Catalog([tool()])
    const ref = refOf(catalog, 'tool:order')
    const others = [{ binding: 2 }, { provider: 'other' }, { generation: 9 }, { contract: `sha256:${'0'.repeat(64)}` }]
    for (const other of others) expect(catalog.current({ ...ref, ...other })).toBeNull()
  })
})

describe('names', () => {
  it('are given once', () => {
    expect(() => new Catalog([tool(), tool()])).toThrow('one name')
    const skill = defineSkill({ name: 'order', description: 'How to order.', body: 'Carefully.' })
    expect([...new Catalog([tool(), skill]).entries()].map(({ ref }) => ref.id)).toEqual(['skill:order', 'tool:order'])
  })

  it('of the planner are reserved', () => {
    for (const name of ['tools_load', 'task_spawn', 'memory_get', 'operator_ask'])
      expect(() => tool({ name })).toThrow('reserved')
  })
})
