import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import type { Log } from '../../src/facts/log-port.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { createServer } from '../../src/protocol/create-server.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { tempFile } from '../log/temp-store.ts'
import { type Described, operationsOf } from './kit/openapi.ts'
import { ask, get, post, served } from './kit/served.ts'
import { issuer } from './kit/tokens.ts'

vi.setConfig({ testTimeout: 60_000 })

const owner = { tenant: 'acme', user: 'ann' }
const secret = 'the vault stands open at noon'
const pay = defineTool({
  name: 'pay',
  description: 'Asks first.',
  input: z.strictObject({ to: z.string() }),
  confirm: 'each',
  run: async () => secret,
})
const script = { name: 'held', everyTurn: [{ calls: [{ name: 'pay', arguments: { to: secret } }] }, { text: secret }] }

interface Ids {
  readonly session: string
  readonly task: string
  readonly call: string
  readonly token: string
}

/** Well-formed, and never given to anything. */
const nowhere: Ids = {
  session: 'nowhere',
  task: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  call: '01ARZ3NDEKTSV4RRFFQ69G5FAW',
  token: 'AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAA',
}

/** A body that each command takes, with the ids of somebody. */
const bodies: { readonly [path: string]: (ids: Ids) => unknown } = {
  tasks: () => ({ action: 'follow_up', input: 'mine', commandId: 'c' }),
  steer: () => ({ input: 'turn left' }),
  resume: ({ token }) => ({ token, decision: 'approve' }),
  replace: () => ({ input: 'something else' }),
  confirm: ({ token }) => ({ decision: 'allow', confirmation: token }),
  acknowledge: ({ call }) => ({ calls: [call] }),
  memory: () => ({ key: 'k', value: 1 }),
  remove: () => ({ key: 'k' }),
  promote: () => ({ key: 'k', to: 'user' }),
  grants: () => ({ id: 'tool:pay', grant: { level: 'none', confirm: 'none' } }),
}
const queries: { readonly [path: string]: string } = { request: '?seq=5', aggregate: '?window=60&bucket=60' }

function addressed({ path }: Described, { session, task, call }: Ids): string {
  const name = path.split('/').at(-1) ?? ''
  const filled = path.replace('{session}', session).replace('{task}', task).replace('{call}', call)
  return filled + (queries[name] ?? '')
}

/** What was answered, without what the asker had said himself and without what differs between any two sessions. */
function comparable(answer: { status: number; body: unknown }, ids: Ids): string {
  let text = JSON.stringify({ status: answer.status, body: answer.body })
  for (const id of Object.values(ids)) text = text.replaceAll(id, 'ID')
  return text.replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, 'ULID').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
}

/** Guards INV-21 over HTTP. */
it('who is of another tenant, user or session is told of somebody else’s what he is told of nothing', async () => {
  const keys = await issuer()
  const { url, runtime } = await served({ script, catalog: [pay], server: { identity: keys.identity } })
  const mine = await keys.bearer(owner)
  const { body: started } = await post(`${url}/v1/sessions/room-7/tasks`, { action: 'start', input: secret }, mine)
  const pauses = async () => (await get(`${url}/v1/sessions/room-7/pauses`, mine)).body.items
  while ((await pauses()).length === 0) await new Promise((resolve) => setImmediate(resolve))
  const [pause] = await pauses()
  const theirs: Ids = { session: 'room-7', task: started.task, call: pause.call, token: pause.token }
  const before = await runtime.session({ ...owner, session: 'room-7' }).log()
  const strangers = [
    { claims: { tenant: 'evil', user: 'ann' }, theirs },
    { claims: { tenant: 'acme', user: 'bob' }, theirs },
    { claims: owner, theirs: { ...theirs, session: 'room-8' } },
  ]
  const operations = operationsOf((await get(`${url}/openapi.json`)).body).filter(({ path }) =>
    path.includes('{session}'),
  )
  expect(operations.length).toBeGreaterThan(25)
  let compared = 0
  for (const { claims, theirs: ids } of strangers) {
    const headers = { ...(await keys.bearer(claims)), 'x-landfall-tenant': 'acme', 'x-landfall-user': 'ann' }
    // Reads first: commands open sessions of the stranger's own.
    const ordered = [...operations].sort((a, b) => rank(a) - rank(b))
    for (const operation of ordered) {
      if (operation.path.endsWith('/events')) continue
      const name = operation.path.split('/').at(-1) ?? ''
      const asked = async (of: Ids) => {
        const body = operation.method === 'get' ? undefined : (bodies[name]?.(of) ?? {})
        const given = body === undefined ? { headers } : { headers, body }
        return ask(operation.method.toUpperCase(), `${url}${addressed(operation, of)}`, given)
      }
      const there = await asked(ids)
      const not = await asked(nowhere)
      const what = `${JSON.stringify(claims)} ${operation.method} ${operation.path}`
      expect(comparable(there, ids), what).toBe(comparable(not, nowhere))
      expect(JSON.stringify(there.body), what).not.toContain(secret)
      compared += 1
    }
  }
  expect(compared).toBe(3 * (operations.length - 1))
  expect(await runtime.session({ ...owner, session: 'room-7' }).log()).toEqual(before)
})

/** Reads, then what opens a session, then what works on it. */
function rank({ method, path }: Described): number {
  if (method === 'get') return 0
  return path.endsWith('/tasks') ? 2 : path.includes('/tasks/') || path.includes('/calls/') ? 1 : 3
}

it('lists of others hold nothing, whatever page of them is asked for', async () => {
  const keys = await issuer()
  const { url } = await served({ server: { identity: keys.identity } })
  const mine = await keys.bearer(owner)
  await post(`${url}/v1/sessions/room-7/tasks`, { action: 'start', input: secret }, mine)
  const place = Buffer.from(JSON.stringify(['acme', 'ann', 'room-7'])).toString('base64url')
  const other = await keys.bearer({ tenant: 'acme', user: 'bob' })
  expect((await get(`${url}/v1/sessions`, other)).body).toEqual({ items: [] })
  // A place is where somebody stands in the alphabet; it says nothing of who is there.
  const nobodys = Buffer.from(JSON.stringify(['acme', 'ann', 'never was'])).toString('base64url')
  for (const after of [place, nobodys])
    expect(await get(`${url}/v1/sessions?after=${after}`, other)).toMatchObject({ status: 200, body: { items: [] } })
  expect((await get(`${url}/v1/sessions?tenant=acme&user=ann`, other)).body).toEqual({ items: [] })
})

it('the store is asked the same for what is not yours and for what is not there, and never for somebody else’s', async () => {
  const keys = await issuer()
  const seen: string[] = []
  const log = watched(sqliteLog(tempFile()), seen)
  const runtime = await openRuntime({ log, model: scriptedModel({ everyTurn: [{ text: 'ok' }] }) })
  const server = createServer(runtime, { ownsRuntime: true, identity: keys.identity })
  const url = await server.listen()
  try {
    const mine = await keys.bearer(owner)
    const { body: started } = await post(`${url}/v1/sessions/room-7/tasks`, { action: 'start', input: secret }, mine)
    await get(`${url}/v1/sessions/room-7/tasks/${started.task}?wait=10`, mine)
    const stranger = await keys.bearer({ tenant: 'evil', user: 'ann' })
    for (const path of [
      '',
      '/state',
      '/log',
      '/messages',
      '/tasks',
      `/tasks/${started.task}`,
      '/calls',
      '/pauses',
      '/request?seq=5',
    ]) {
      const asked = async (session: string) => {
        seen.length = 0
        await get(`${url}/v1/sessions/${session}${path}`, stranger)
        return seen.map((line) => line.replace(session, 'S'))
      }
      const there = await asked('room-7')
      expect(there, path).toEqual(await asked('nowhere'))
      expect(there.length, path).toBeGreaterThan(0)
      expect(there.filter((line) => line.includes('acme'))).toEqual([])
    }
  } finally {
    await server.close()
    await log.close()
  }
})

/** Writes down whose records the store is asked for, and how. */
function watched(log: Log, seen: string[]): Log {
  return new Proxy(log, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        const [scope] = given
        if (['read', 'content', 'head', 'loadSnapshot'].includes(String(name)))
          seen.push(`${String(name)} ${JSON.stringify(scope)}`)
        return value.apply(target, given)
      }
    },
  })
}
