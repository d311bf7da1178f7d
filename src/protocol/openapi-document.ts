import { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { elevatedScopes } from './identity.ts'
import { problemSchema, problemType } from './problem.ts'
import type { Route } from './route.ts'

type JsonSchema = Record<string, unknown>
type Registry = OpenAPIHono['openAPIRegistry']
type PathConfig = Parameters<Registry['registerPath']>[0]
type Responses = PathConfig['responses']

const root = '#/components/schemas/'

/**
 * OpenAPI 3.1 of the routes. Bodies are JSON Schema as zod itself writes it, because facts hold arbitrary JSON, which is a schema
 * within itself; named schemas become components.
 */
export function openapiDocument(routes: readonly Route[], version: string): object {
  const { openAPIRegistry: registry, ...app } = withDocument()
  const components = new Components(registry)
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' })
  for (const route of routes) registry.registerPath(pathOf(route, components))
  return app.document({
    openapi: '3.1.0',
    info: {
      title: 'Landfall',
      version,
      description: `Sessions, tasks and calls over HTTP. Elevated claims: ${elevatedScopes.join(', ')}.`,
    },
    security: [{ bearer: [] }, {}],
  })
}

function withDocument() {
  const app = new OpenAPIHono()
  const document = (config: Parameters<typeof app.getOpenAPI31Document>[0]): object => app.getOpenAPI31Document(config)
  return { openAPIRegistry: app.openAPIRegistry, document }
}

/** Schemas by the name that they were given with `meta({ id })`, each registered once. */
class Components {
  readonly #registry: Registry
  readonly #known = new Set<string>()

  constructor(registry: Registry) {
    this.#registry = registry
  }

  schema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const name = schema.meta()?.id
    if (name === undefined) return this.#plain(schema, io)
    if (!this.#known.has(name)) this.#add(name, this.#plain(schema, io))
    return { $ref: `${root}${name}` }
  }

  #plain(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const own = schema.meta()?.id ?? ''
    const {
      $schema: _dialect,
      $defs,
      ...inline
    } = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      // Facts share their envelope; written out for each of them it would be most of the document.
      reused: own === 'Fact' ? 'ref' : 'inline',
    }) as JsonSchema
    const { [own]: body = inline, ...others } = ($defs ?? {}) as Record<string, JsonSchema>
    for (const [name, part] of Object.entries(others)) this.#add(nameOf(own, name), rehomed(part, own))
    const { id: _id, ...rehomedBody } = rehomed(body, own)
    return rehomedBody
  }

  #add(name: string, { id: _id, ...schema }: JsonSchema): void {
    if (this.#known.has(name)) return
    this.#known.add(name)
    this.#register(name, schema)
  }

  #register(name: string, schema: JsonSchema): void {
    this.#registry.registerComponent('schemas', name, schema)
  }
}

/** Names that zod made up mean something only beside the schema that they were made for. */
function nameOf(prefix: string, name: string): string {
  return name.startsWith('__') ? `${prefix === '' ? 'Json' : prefix}${name.replace('__schema', '-')}` : name
}

/** References within one schema become references to components. */
function rehomed(schema: JsonSchema, own: string): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([key, part]) => [
      key,
      key === '$ref' && typeof part === 'string' ? reference(part, own) : rehomedPart(part, own),
    ]),
  )
}

function rehomedPart(part: unknown, own: string): unknown {
  if (Array.isArray(part)) return part.map((each) => rehomedPart(each, own))
  return typeof part === 'object' && part !== null ? rehomed(part as JsonSchema, own) : part
}

function reference(ref: string, own: string): string {
  return ref === '#' ? `${root}${own}` : ref.replace(/^#\/\$defs\/(.+)$/, (_, name: string) => root + nameOf(own, name))
}

function pathOf(route: Route, components: Components): PathConfig {
  const { method, path, summary, answer, elevated } = route
  const parameters = [...pathParameters(path), ...queryParameters(route, components), ...headerParameters(route)]
  return {
    method,
    path,
    summary,
    operationId: operationId(method, path),
    ...(elevated === undefined ? {} : { description: `Needs the claim ${elevated}.` }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : { request: { body: jsonContent(components.schema(route.body, 'input'), 'What is asked for') } }),
    responses: responses(answer, components),
  } as PathConfig
}

function responses(answer: Route['answer'], components: Components): Responses {
  const { status, description, schema, contentType = 'application/json' } = answer
  const good = schema === undefined ? { type: 'string' } : components.schema(schema, 'output')
  return {
    [status]: { description, content: { [contentType]: { schema: good } } },
    default: {
      description: 'A problem; decide by its code',
      content: { [problemType]: { schema: components.schema(problemSchema, 'output') } },
    },
  } as Responses
}

function jsonContent(schema: JsonSchema, description: string): object {
  return { description, content: { 'application/json': { schema } } }
}

function pathParameters(path: string): readonly object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
  }))
}

function queryParameters({ query }: Route, components: Components): readonly object[] {
  if (query === undefined) return []
  const { properties = {}, required = [] } = components.schema(query, 'input') as {
    properties?: Record<string, JsonSchema>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    schema,
  }))
}

function headerParameters({ headers = [] }: Route): readonly object[] {
  return headers.map((name) => ({ name, in: 'header', schema: { type: 'string' } }))
}

function operationId(method: string, path: string): string {
  const words = path.replace(/^\/v1/, '').match(/\w+/g) ?? []
  return [method, ...words].map((word, at) => (at === 0 ? word : word[0]?.toUpperCase() + word.slice(1))).join('')
}
