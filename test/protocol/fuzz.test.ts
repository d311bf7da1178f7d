import fc, { type Arbitrary } from 'fast-check'
import { expect, it, vi } from 'vitest'
import { type Described, type Document, operationsOf, type Schema } from './kit/openapi.ts'
import { get, post, served } from './kit/served.ts'

const soak = process.env.LANDFALL_SOAK === '1'

vi.setConfig({ testTimeout: soak ? 1_800_000 : 180_000 })

type Chosen = Arbitrary<unknown>

/** Text as clients send it, and as nobody should. */
const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    '..',
    '%00',
    '__proto__',
    '_control',
    'a'.repeat(129),
    '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  ),
)

/** Values of a schema, and now and then one that is none of it. */
function valuesOf(schema: Schema, document: Document, depth = 0): Chosen {
  const good = goodValues(schema, document, depth)
  return fc.oneof(
    { weight: 9, arbitrary: good },
    { weight: 1, arbitrary: fc.oneof(fc.jsonValue({ maxDepth: 2 }), text) },
  )
}

function goodValues(schema: Schema, document: Document, depth: number): Chosen {
  const { $ref: ref, anyOf, enum: words, const: only, type } = schema
  if (typeof ref === 'string') {
    const name = ref.replace('#/components/schemas/', '')
    return depth > 6 ? fc.constant(null) : goodValues(document.components.schemas[name] ?? {}, document, depth + 1)
  }
  if (only !== undefined) return fc.constant(only)
  if (Array.isArray(words)) return fc.constantFrom(...words)
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((each: Schema) => valuesOf(each, document, depth + 1)))
  switch (type) {
    case 'object':
      return objectsOf(schema, document, depth)
    case 'array':
      return fc.array(valuesOf((schema.items ?? {}) as Schema, document, depth + 1), { maxLength: 3 })
    case 'integer':
      return fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer(), fc.constantFrom(-1, 1e308, 2 ** 53))
    case 'number':
      return fc.oneof(fc.double({ min: 0, max: 0.05 }), fc.double())
    case 'boolean':
      return fc.boolean()
    case 'string':
      return typeof schema.pattern === 'string' ? fc.constantFrom('1', '30s', '5m', 'x', '0') : text
    default:
      return fc.jsonValue({ maxDepth: 3 })
  }
}

function objectsOf(schema: Schema, document: Document, depth: number): Chosen {
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  const required = (schema.required ?? []) as string[]
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, each]) => {
      const values = valuesOf(each, document, depth + 1)
      const seldom = fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values })
      return [name, required.includes(name) ? values : seldom]
    }),
  )
  const known = fc.record(fields)
  return fc.oneof(
    { weight: 8, arbitrary: known },
    { weight: 1, arbitrary: fc.tuple(known, fc.dictionary(text, text)).map(([a, b]) => ({ ...b, ...a })) },
  )
}

interface Shot {
  readonly path: string
  readonly init: RequestInit
}

/** A request to one route: its parameters and its body from the document, with the ids of a session that is there or made up. */
function shotsAt(
  { method, path, operation }: Described,
  document: Document,
  known: readonly string[],
): Arbitrary<Shot> {
  const parameters = operation.parameters ?? []
  const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const schema = operation.requestBody?.content['application/json']?.schema
  const id = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: text })
  const query = fc.record(
    Object.fromEntries(inQuery.map(({ name, schema: each }) => [name, valuesOf(each, document)])),
    {
      requiredKeys: inQuery.filter(({ required }) => required === true).map(({ name }) => name),
    },
  )
  return fc
    .record({
      ids: fc.tuple(...inPath.map(() => id)),
      query,
      body: schema === undefined ? fc.constant(undefined) : valuesOf(schema, document),
      scopes: fc.constantFrom('', 'elevated:user elevated:tenant elevated:fleet elevated:capabilities'),
      lastId: fc.option(text, { nil: undefined }),
    })
    .map(({ ids, query: asked, body, scopes, lastId }) => {
      const filled = inPath.reduce(
        (at, name, index) => at.replace(`{${name}}`, encodeURIComponent(wellFormed(ids[index]))),
        path,
      )
      const search = new URLSearchParams(
        Object.entries(asked).map(([name, value]): [string, string] => [name, wellFormed(value)]),
      )
      const headers: Record<string, string> = { 'x-landfall-scopes': scopes }
      if (lastId !== undefined && /^[\x21-\x7e]+$/.test(lastId)) headers['last-event-id'] = lastId
      const init: RequestInit = { method: method.toUpperCase(), headers }
      return { path: `${filled}?${search}`, init: body === undefined ? init : { ...init, body: JSON.stringify(body) } }
    })
}

function wellFormed(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\p{Surrogate}/gu, '\ufffd')
}

it('no request that the document allows, or nearly allows, is a fault of the server', async () => {
  const on = await served({ limits: { graceMs: 0 }, context: { windowTokens: 1_000_000 } })
  const { body: started } = await post(`${on.url}/v1/sessions/one/tasks`, { action: 'start', input: 'x' })
  await get(`${on.url}/v1/sessions/one/tasks/${started.task}?wait=10`)
  const document: Document = (await get(`${on.url}/openapi.json`)).body
  const known = ['one', started.task, 'two', 'fs.read', 'host']
  const seen = new Map<number, number>()
  for (const operation of operationsOf(document))
    await fc.assert(
      fc.asyncProperty(shotsAt(operation, document, known), async ({ path, init }) => {
        const cut = new AbortController()
        const response = await fetch(`${on.url}${path}`, { ...init, signal: cut.signal })
        seen.set(response.status, (seen.get(response.status) ?? 0) + 1)
        const isStream = response.headers.get('content-type') === 'text/event-stream'
        const text = isStream ? '' : await response.text()
        cut.abort()
        expect(response.status, `${init.method} ${path} ${String(init.body)} → ${text}`).toBeLessThan(500)
        if (response.status < 400) return
        expect(response.headers.get('content-type')).toBe('application/problem+json')
        expect(JSON.parse(text)).toMatchObject({ status: response.status, code: expect.stringMatching(/^[A-Z_]+$/) })
      }),
      {
        numRuns: (operation.path.endsWith('/tasks') ? 200 : 40) * (soak ? 10 : 1),
        ...(soak ? {} : { seed: 20_261_130 }),
        endOnFailure: true,
      },
    )
  // Both sides of every check were reached.
  for (const status of [200, 201, 400, 403, 404, 422]) expect(seen.get(status) ?? 0, String(status)).toBeGreaterThan(0)
})
