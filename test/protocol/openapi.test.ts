import { expect, it, vi } from 'vitest'
import { type Described, type Document, isSchema, operationsOf, references, validators } from './kit/openapi.ts'
import { get, post, served } from './kit/served.ts'

// Compiling some hundred schemas takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

async function documentOf(url: string): Promise<Document> {
  const { status, body } = await get(`${url}/openapi.json`)
  expect(status).toBe(200)
  return body
}

it('is OpenAPI 3.1: every reference leads somewhere, every schema compiles, every parameter of a path is declared', async () => {
  const { url } = await served()
  const document = await documentOf(url)
  expect(document.openapi).toBe('3.1.0')
  const names = Object.keys(document.components.schemas)
  for (const name of names) expect(name).toMatch(/^[\w.-]+$/)
  for (const reference of references(document)) expect(names).toContain(reference.replace('#/components/schemas/', ''))
  const compile = validators(document)
  for (const name of names) compile({ $ref: `#/components/schemas/${name}` })
  const ids = operationsOf(document).map(({ operation }) => operation.operationId)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { path, operation } of operationsOf(document)) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
    expect(declared.map(({ name }) => name)).toEqual(inPath)
    for (const { required } of declared) expect(required).toBe(true)
    for (const part of partsOf({ method: '', path, operation })) expect(isSchema(part)).toBe(true)
  }
})

function partsOf({ operation }: Described) {
  const contents = [operation.requestBody?.content, ...Object.values(operation.responses).map(({ content }) => content)]
  return [
    ...(operation.parameters ?? []).map(({ schema }) => schema),
    ...contents.flatMap((content) => Object.values(content ?? {}).map(({ schema }) => schema)),
  ]
}

it('describes every route of the protocol', async () => {
  const { url } = await served()
  const described = operationsOf(await documentOf(url)).map(({ method, path }) => `${method} ${path}`)
  const s = '/v1/sessions/{session}'
  const task = `${s}/tasks/{task}`
  expect(described.sort()).toEqual(
    [
      ...[
        'get /v1/sessions',
        'post /v1/sessions/restore',
        `get ${s}`,
        `delete ${s}`,
        `post ${s}/close`,
        `post ${s}/reopen`,
      ],
      ...[
        `get ${s}/tasks`,
        `post ${s}/tasks`,
        `get ${task}`,
        `post ${s}/calls/{call}/confirm`,
        `post ${s}/acknowledge`,
      ],
      ...['steer', 'cancel', 'pause', 'resume', 'unblock', 'replace', 'grants'].map((name) => `post ${task}/${name}`),
      ...[
        'pauses',
        'queue',
        'calls',
        'messages',
        'log',
        'ledger',
        'state',
        'request',
        'checkpoint',
        'patch',
        'memory',
      ].map((name) => `get ${s}/${name}`),
      ...['', '/remove', '/promote'].map((name) => `post ${s}/memory${name}`),
      ...[`get ${s}/events`, `get ${s}/events/aggregate`, 'get /v1/events', 'get /v1/capabilities'],
      'post /v1/capabilities/{capability}/revoke',
      'post /v1/providers/{provider}/disable',
      'post /v1/providers/{provider}/enable',
    ].sort(),
  )
})

it('says what answers look like: those of a real session are so', async () => {
  const { url } = await served()
  const document = await documentOf(url)
  const compile = validators(document)
  const base = `${url}/v1/sessions/one`
  const { body: created } = await post(`${base}/tasks`, { action: 'start', input: 'hello' })
  await get(`${base}/tasks/${created.task}?wait=10`)
  const requested = (await get(`${base}/log`)).body.items.find(
    (fact: { type: string }) => fact.type === 'model.requested',
  )
  const queries: { readonly [path: string]: string } = {
    '/v1/sessions/{session}/request': `?seq=${requested.seq}`,
    '/v1/sessions/{session}/events/aggregate': '?window=60&bucket=1',
  }
  let looked = 0
  for (const { method, path, operation } of operationsOf(document)) {
    if (method !== 'get' || path.endsWith('/events')) continue
    const address = path.replace('{session}', 'one').replace('{task}', created.task) + (queries[path] ?? '')
    const { status, body, headers } = await get(`${url}${address}`)
    const described = operation.responses[String(status)] ?? operation.responses.default
    const schema = described?.content[(headers.get('content-type') ?? '').split(';')[0] ?? '']?.schema
    const validate = compile(schema ?? { not: {} })
    expect(validate(body), `${path}: ${JSON.stringify(validate.errors)}`).toBe(true)
    if (status === 200) looked += 1
  }
  expect(looked).toBeGreaterThanOrEqual(12)
})
