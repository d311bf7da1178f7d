import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineSkill, skillContract } from '../../src/capabilities/define-skill.ts'
import { argumentProblem, defineTool, toolContract } from '../../src/capabilities/define-tool.ts'
import { checkArguments, type ToolSchema } from '../../src/capabilities/tool-schema.ts'
import { canonicalJson } from '../../src/facts/digest.ts'
import { toolContext } from './tool-context.ts'

const input = z.object({ sku: z.string(), count: z.number().int().default(1) })
const order = {
  name: 'shop.order',
  description: 'Orders.',
  input,
  run: async (args: z.output<typeof input>) => args.sku,
}

describe('a tool', () => {
  it('has its defaults; undeclared means that it changes something', async () => {
    const tool = defineTool(order)
    expect(tool).toMatchObject({
      kind: 'tool',
      name: 'shop.order',
      tags: [],
      effect: 'mutate',
      confirm: 'none',
      load: 'start',
    })
    expect(Object.keys(tool)).not.toContain('timeoutMs')
    expect(Object.isFrozen(tool)).toBe(true)
    expect(await tool.run({ sku: 'x', count: 1 }, toolContext())).toBe('x')
  })

  it('keeps what was declared, and passes arguments and context on', async () => {
    const seen: unknown[] = []
    const tool = defineTool({
      ...order,
      effect: 'idempotent',
      confirm: 'each',
      load: 'demand',
      timeoutMs: 5,
      tags: ['shop'],
      subject: (args) => args.sku,
      run: (args, { attempt }) => seen.push(args.count, attempt),
      cancel: async (callId) => (callId === 'c' ? 'acknowledged' : 'unknown'),
      verify: async (args) => (args.sku === 'x' ? 'succeeded' : 'failed'),
    })
    await tool.run({ sku: 'x', count: 2 }, toolContext({ attempt: 3 }))
    expect(seen).toEqual([2, 3])
    expect(tool.subject?.({ sku: 'x', count: 1 })).toBe('x')
    expect(await tool.cancel?.('c')).toBe('acknowledged')
    expect(await tool.verify?.({ sku: 'x', count: 1 }, toolContext())).toBe('succeeded')
    expect(tool).toMatchObject({ effect: 'idempotent', confirm: 'each', load: 'demand', timeoutMs: 5, tags: ['shop'] })
  })

  it('that throws at once rejects', async () => {
    const tool = defineTool({
      ...order,
      run: () => {
        throw new Error('at once')
      },
    })
    await expect(tool.run({ sku: 'x' }, toolContext())).rejects.toThrow('at once')
  })

  const wrong = (change: object) => () => defineTool({ ...order, ...change } as typeof order)

  it.each<[string, object]>([
    ['no name', { name: '' }],
    ['a name with a blank', { name: 'a b' }],
    ['a name that begins with a dot', { name: '.a' }],
    ['a long name', { name: 'a'.repeat(129) }],
    ['no description', { description: '' }],
    ['a long description', { description: 'a'.repeat(2_001) }],
    ['an empty tag', { tags: [''] }],
    ['no schema', { input: { type: 'object' } }],
    ['a schema that describes no object', { input: z.string() }],
    ['an output that is no schema', { output: {} }],
    ['an unknown effect', { effect: 'write' }],
    ['an unknown confirmation', { confirm: 'always' }],
    ['an unknown time of loading', { load: 'never' }],
    ['a timeout of nothing', { timeoutMs: 0 }],
    ['nothing to run', { run: undefined }],
  ])('with %s is refused', (_name, change) => {
    expect(wrong(change)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  })
})

describe('the contract of a tool', () => {
  it('is plain JSON of its schemas and its effect', () => {
    const tool = defineTool({ ...order, output: z.string(), effect: 'read' })
    expect(toolContract(tool)).toEqual({
      input: {
        type: 'object',
        properties: {
          sku: { type: 'string' },
          count: { type: 'integer', default: 1, minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
        },
        required: ['sku'],
      },
      output: { type: 'string' },
      effect: 'read',
    })
    expect(toolContract(defineTool(order)).output).toBeNull()
  })

  it('is the same text for the same schema, and another for another', () => {
    const text = (schema: z.ZodObject) =>
      canonicalJson(toolContract(defineTool({ ...order, input: schema, run: () => 1 })))
    const one = text(z.object({ a: z.string(), b: z.number() }))
    expect(text(z.object({ b: z.number(), a: z.string() }))).toBe(one)
    expect(text(z.object({ a: z.string(), b: z.string() }))).not.toBe(one)
  })
})

describe('arguments', () => {
  const thrown = (schema: ToolSchema, value: unknown): unknown => {
    try {
      return checkArguments(schema, value)
    } catch (error) {
      return error
    }
  }

  it('come out as the schema makes them', () => {
    expect(checkArguments(input, { sku: 'x' })).toEqual({ sku: 'x', count: 1 })
  })

  it('that do not fit are refused with the places', () => {
    const schema = z.strictObject({ a: z.object({ b: z.string() }) })
    const error = thrown(schema, { a: { b: 1 }, c: 1 })
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENTS', details: { issues: [{ path: 'a.b' }, { path: '' }] } })
  })

  it('are checked by the tool itself, with the defaults of the schema', async () => {
    const tool = defineTool({ ...order, run: (args) => args.count, subject: (args) => `${args.sku}×${args.count}` })
    expect(await tool.run({ sku: 'x' }, toolContext())).toBe(1)
    expect(tool.subject?.({ sku: 'x' })).toBe('x×1')
    await expect(tool.run({ sku: 5 }, toolContext())).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' })
  })

  it('that do not fit are explained to the model, within bounds', () => {
    const tool = defineTool(order)
    expect(argumentProblem(tool, { sku: 'x' })).toBeNull()
    expect(argumentProblem(tool, { sku: 5 })).toMatch(/^sku: /)
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`f${at}`, z.string()]))
    expect(argumentProblem(defineTool({ ...order, input: z.object(many), run: () => 1 }), {})).toMatch(/; and 4 more$/)
  })

  it('may be checked by any Standard Schema with JSON Schema', () => {
    const own: ToolSchema<{ a: number }> = {
      '~standard': {
        version: 1,
        vendor: 'own',
        validate: (value) => {
          if (value === 'later') return Promise.reject(new Error('late'))
          return value === 'good' ? { value: { a: 1 } } : { issues: [{ message: 'bad', path: [{ key: 'a' }] }] }
        },
        jsonSchema: { input: () => ({ $schema: 'x', type: 'object' }) },
      },
    }
    const tool = defineTool({ ...order, input: own, run: (args) => args.a })
    expect(toolContract(tool).input).toEqual({ type: 'object' })
    expect(checkArguments(own, 'good')).toEqual({ a: 1 })
    expect(thrown(own, 'else')).toMatchObject({ details: { issues: [{ path: 'a', message: 'bad' }] } })
    expect(argumentProblem(tool, 'later')).toContain('must answer at once')
  })
})

describe('a skill', () => {
  it('has a manifest and a body', () => {
    const skill = defineSkill({ name: 'review', description: 'How to review.', body: 'Read it.' })
    expect(skill).toMatchObject({ kind: 'skill', tags: [], disableModelInvocation: false })
    expect(skillContract(skill)).toEqual({
      manifest: { name: 'review', description: 'How to review.', tags: [], disableModelInvocation: false },
      body: 'Read it.',
    })
  })

  it.each([{ name: 'a/b' }, { description: '' }, { body: '' }])('with %o is refused', (change) => {
    const options = { name: 'review', description: 'x', body: 'y', ...change }
    expect(() => defineSkill(options)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  })
})
