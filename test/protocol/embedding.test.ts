import { spawnSync } from 'node:child_process'
import { createServer as createHttpServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { expect, it, onTestFinished } from 'vitest'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import type { RequestRecord } from '../../src/protocol/server-options.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { createServer, requestListener, serverApp } from '../../src/server/public.ts'
import { repoRoot } from '../repo/source-files.ts'
import { get, post, served } from './kit/served.ts'

async function hosted() {
  const runtime = await openRuntime({ log: memoryLog(), model: scriptedModel({ everyTurn: [{ text: 'ok' }] }) })
  onTestFinished(() => runtime.close())
  return runtime
}

async function addressOf(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('is a part of a host’s Hono app, beside its own routes', async () => {
  const runtime = await hosted()
  const app = new Hono()
  app.get('/hello', (c) => c.text('mine'))
  app.route('/', serverApp(runtime))
  app.get('/later', (c) => c.text('mine too'))
  const ask = (path: string, init?: RequestInit) => app.request(`http://localhost${path}`, init)
  expect(await (await ask('/hello')).text()).toBe('mine')
  expect(await (await ask('/later')).text()).toBe('mine too')
  const started = await ask('/v1/sessions/one/tasks', { method: 'POST', body: '{"action":"start","input":"x"}' })
  expect(started.status).toBe(201)
  const { task } = (await started.json()) as { task: string }
  expect(await (await ask(`/v1/sessions/one/tasks/${task}?wait=5`)).json()).toMatchObject({ status: 'completed' })
  const charts = (await (await ask('/v1/machines')).json()) as { items: { name: string; definition: object }[] }
  expect(charts.items.map(({ name }) => name)).toEqual(expect.arrayContaining(['session', 'task', 'call']))
  expect(charts.items[1]?.definition).toMatchObject({ id: 'task', states: {} })
})

it('is a part of a host’s Node server, and changes no global', async () => {
  const { Request: before, Response: also } = globalThis
  const listener = requestListener(serverApp(await hosted()))
  const url = await addressOf(createHttpServer((request, response) => void listener(request, response)))
  expect((await get(`${url}/healthz`)).body).toEqual({ ok: true })
  expect((await post(`${url}/v1/sessions/one/tasks`, { action: 'start', input: 'x' })).status).toBe(201)
  expect(globalThis.Request).toBe(before)
  expect(globalThis.Response).toBe(also)
})

it('takes another identity, metrics, charts, files and a listener from the host', async () => {
  const records: RequestRecord[] = []
  const identify = Object.assign(
    async () => ({ tenant: 'acme', user: 'ann', scopes: new Set<string>(), sessions: null, expiresAt: null }),
    { loopbackOnly: false },
  )
  const on = await served({
    server: {
      identity: identify,
      metrics: () => 'turns_total 1\n',
      machines: () => ({ mine: { id: 'mine' } }),
      site: (path) => (path === '/' ? { contentType: 'text/html', body: '<p>console</p>' } : null),
      onRequest: (record) => records.push(record),
    },
  })
  const { body } = await post(`${on.url}/v1/sessions/one/tasks`, { action: 'start', input: 'x' })
  await get(`${on.url}/v1/sessions/one/tasks/${body.task}?wait=5`)
  expect(await on.runtime.sessions({ tenant: 'acme', user: 'ann' })).toHaveLength(1)
  const metrics = await get(`${on.url}/metrics`)
  expect(metrics).toMatchObject({ status: 200, body: 'turns_total 1\n' })
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect((await get(`${on.url}/v1/machines`)).body).toEqual({ items: [{ name: 'mine', definition: { id: 'mine' } }] })
  const page = await get(`${on.url}/`)
  expect(page.body).toBe('<p>console</p>')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'self'")
  expect((await get(`${on.url}/nothing.js`)).body.code).toBe('NOT_FOUND')
  expect(records).toMatchObject([
    { method: 'POST', route: '/v1/sessions/{session}/tasks', status: 201 },
    { method: 'GET', route: '/v1/sessions/{session}/tasks/{task}', status: 200 },
    { route: '/metrics', status: 200 },
    { route: '/v1/machines', status: 200 },
    { route: '*', status: 200 },
    { route: '*', status: 404 },
  ])
  for (const { durationMs } of records) expect(durationMs).toBeGreaterThanOrEqual(0)
})

it('shows a plain page with lines to try, which work', async () => {
  const on = await served()
  const page = await get(`${on.url}/`)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.body).toContain(`curl -s ${on.url}/v1/sessions/first/tasks`)
  expect((await get(`${on.url}/metrics`)).body.code).toBe('NOT_FOUND')
})

it('a runtime that closes ends what the server shows of it', async () => {
  const runtime = await hosted()
  const server = createServer(runtime)
  const url = await server.listen()
  onTestFinished(() => server.close())
  const events = await fetch(`${url}/v1/sessions/one/events`)
  await runtime.close()
  expect(await events.text()).toMatch(/event: bus\.closed\ndata: .*\n\n: closed\n\n$/)
  const late = await post(`${url}/v1/sessions/one/tasks`, { action: 'start', input: 'x' })
  expect(late).toMatchObject({ status: 503, body: { code: 'SHUTTING_DOWN', retryable: true } })
})

it('an event stream that nobody reads keeps no process alive', () => {
  const script = `
    import { memoryLog, openRuntime, scriptedModel } from 'landfall'
    import { serverApp } from 'landfall/server'
    const runtime = await openRuntime({ log: memoryLog(), model: scriptedModel({ everyTurn: [{ text: 'ok' }] }) })
    const { status } = await serverApp(runtime).request('http://localhost/v1/sessions/one/events')
    await runtime.close()
    console.log(status)`
  const words = ['--input-type=module', '-e', script]
  const run = spawnSync(process.execPath, words, { cwd: repoRoot, encoding: 'utf8', timeout: 10_000 })
  expect(run).toMatchObject({ status: 0, stdout: '200\n', stderr: '' })
})

it('the library alone loads no server', () => {
  const script = `
    import { register } from 'node:module'
    const hook = 'export async function resolve(name, context, next) { const found = await next(name, context); console.log(found.url); return found }'
    register('data:text/javascript,' + encodeURIComponent(hook))
    await import('landfall')`
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: repoRoot, encoding: 'utf8' })
  expect(run.stderr).not.toContain('Error')
  expect(run.stdout).toContain('/dist/src/index.js')
  expect(run.stdout).not.toMatch(/node_modules\/(@hono|hono|jose)\/|dist\/src\/(protocol|server)\/|node:http/)
})
