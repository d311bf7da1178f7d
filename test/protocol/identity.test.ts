import { createHmac } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/facts/system-ports.ts'
import { loadKeySet, localKeySet } from '../../src/protocol/key-set.ts'
import { refusal } from '../runtime/kit/check.ts'
import { type Document, operationsOf } from './kit/openapi.ts'
import { ask, get, post, served } from './kit/served.ts'
import { SseClient } from './kit/sse-client.ts'
import { type Issuer, issuer } from './kit/tokens.ts'

const hour = 3_600
const now = () => Math.floor(systemClock.now() / 1_000)
const ann = { tenant: 'acme', user: 'ann' }

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Credentials that must all be the same refusal. */
async function forgeries(keys: Issuer): Promise<Readonly<Record<string, Record<string, string>>>> {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const valid = await keys.token(ann)
  const [, payload = '', signature = ''] = valid.split('.')
  const stranger = await generateKeyPair('ES256')
  const byStranger = new SignJWT(ann).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(stranger.privateKey)
  const hmac = (secret: string) => {
    const text = `${encoded({ alg: 'HS256', typ: 'JWT', kid: 'k1' })}.${encoded({ ...ann, exp: now() + hour })}`
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }
  return {
    'nothing at all': {},
    'headers of the keyless server': { 'x-landfall-tenant': 'acme', 'x-landfall-user': 'ann' },
    'another scheme': { authorization: 'Basic YW5uOmFubg==' },
    'no token': { authorization: 'Bearer ' },
    'no JWT': bearer('abc'),
    'algorithm none': bearer(`${encoded({ alg: 'none' })}.${encoded({ ...ann, exp: now() + hour })}.`),
    'algorithm none with a signature': bearer(`${encoded({ alg: 'none' })}.${payload}.${signature}`),
    'HS256 with the public key as PEM': bearer(hmac(keys.publicPem)),
    'HS256 with the public key as JWK': bearer(hmac(JSON.stringify(keys.publicJwk))),
    'HS256 with an empty secret': bearer(hmac('')),
    'another key': bearer(await byStranger),
    'claims that were changed': bearer(
      valid.replace(payload, encoded({ tenant: 'acme', user: 'bob', exp: now() + hour })),
    ),
    expired: bearer(await keys.token({ ...ann, exp: now() - hour })),
    'not valid yet': bearer(await keys.token({ ...ann, nbf: now() + hour })),
    'issued in the future': bearer(await keys.token({ ...ann, iat: now() + hour, exp: now() + 2 * hour })),
    'no tenant': bearer(await keys.token({ user: 'ann' })),
    'no user': bearer(await keys.token({ tenant: 'acme' })),
    'a tenant that is ours': bearer(await keys.token({ tenant: '_control', user: '_control' })),
    'a tenant that is no text': bearer(await keys.token({ tenant: ['acme'], user: 'ann' })),
    'sessions that are no list': bearer(await keys.token({ ...ann, sessions: 'one' })),
  }
}

describe('with keys', () => {
  it('who cannot prove who they are is told the same 401 on every route, whatever the proof lacks', async () => {
    const keys = await issuer()
    const { url } = await served({ server: { identity: keys.identity, metrics: () => '' } })
    const { body: document } = await get(`${url}/openapi.json`)
    const described = operationsOf(document as Document).filter(({ path }) => path.startsWith('/v1/'))
    const routes = [...described, { method: 'get', path: '/metrics' }].filter(({ path }) => path !== '/v1/machines')
    expect(routes.length).toBeGreaterThanOrEqual(40)
    const told = new Set<string>()
    for (const [name, headers] of Object.entries(await forgeries(keys))) {
      const answers = routes.map(async ({ method, path }) => {
        const body = method === 'post' ? { body: { action: 'start', input: 'x', ...ann } } : {}
        const answer = await ask(method.toUpperCase(), `${url}${path.replaceAll(/\{\w+\}/g, 'one')}`, {
          headers,
          ...body,
        })
        expect(answer.status, `${name} at ${method} ${path}`).toBe(401)
        expect(answer.headers.get('www-authenticate')).toBe('Bearer')
        expect(answer.body.code).toBe('IDENTITY_REQUIRED')
        if (!/tenant|user/.test(name)) told.add(JSON.stringify(answer.body))
      })
      await Promise.all(answers)
    }
    expect(told.size).toBe(1)
  })

  it('the identity is that of the token alone: not of the body, the headers or the query', async () => {
    const keys = await issuer()
    const { url, runtime } = await served({ server: { identity: keys.identity } })
    const headers = { ...(await keys.bearer(ann)), 'x-landfall-tenant': 'evil', 'x-landfall-user': 'bob' }
    const started = await post(
      `${url}/v1/sessions/one/tasks?tenant=evil&user=bob`,
      { action: 'start', input: 'x' },
      headers,
    )
    expect(started.status).toBe(201)
    expect(await runtime.sessions({ ...ann })).toHaveLength(1)
    expect(await runtime.sessions({ tenant: 'evil', user: 'bob' })).toEqual([])
    for (const extra of [{ tenant: 'evil' }, { user: 'bob' }, { session: 'two' }, { scope: { tenant: 'evil' } }]) {
      const refused = await post(`${url}/v1/sessions/one/tasks`, { action: 'follow_up', input: 'x', ...extra }, headers)
      expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
    }
  })

  it.each(['RS256', 'PS256', 'ES384', 'EdDSA'])('takes %s, and `sub` for the user', async (algorithm) => {
    const keys = await issuer(algorithm)
    const { url } = await served({ server: { identity: keys.identity } })
    const { status } = await get(`${url}/v1/sessions`, await keys.bearer({ tenant: 'acme', sub: 'ann' }))
    expect(status).toBe(200)
  })

  it('a token for some sessions reaches no other, and is told the same of one that is there and one that is not', async () => {
    const keys = await issuer()
    const { url } = await served({ server: { identity: keys.identity } })
    const all = await keys.bearer(ann)
    const some = await keys.bearer({ ...ann, sessions: ['mine'], scopes: ['elevated:user', 'elevated:fleet'] })
    for (const session of ['mine', 'other'])
      await post(`${url}/v1/sessions/${session}/tasks`, { action: 'start', input: 'x' }, all)
    const listed = await get(`${url}/v1/sessions`, some)
    expect(listed.body.items.map(({ session }: { session: string }) => session)).toEqual(['mine'])
    expect((await get(`${url}/v1/sessions/mine/log`, some)).status).toBe(200)
    for (const path of ['', '/log', '/state', '/messages', '/events', '/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV']) {
      const there = await get(`${url}/v1/sessions/other${path}`, some)
      const not = await get(`${url}/v1/sessions/nowhere${path}`, some)
      expect(there).toMatchObject({ status: 403, body: { code: 'SCOPE_REQUIRED' } })
      expect(there.body).toEqual(not.body)
    }
    // What an elevated claim would show goes beyond the set.
    expect((await get(`${url}/v1/events`, some)).status).toBe(403)
    expect((await get(`${url}/v1/sessions?view=fleet`, some)).status).toBe(403)
  })

  it('wider views need their claim, and each use is on record, also when it finds nothing', async () => {
    const keys = await issuer()
    const { url, runtime } = await served({ server: { identity: keys.identity } })
    const plain = await keys.bearer(ann)
    const wide = await keys.bearer({
      ...ann,
      scope: 'openid elevated:tenant elevated:user',
      scopes: ['elevated:fleet'],
    })
    await post(
      `${url}/v1/sessions/one/tasks`,
      { action: 'start', input: 'x' },
      await keys.bearer({ tenant: 'acme', user: 'bob' }),
    )
    for (const path of [
      'sessions?view=tenant',
      'sessions?view=fleet',
      'events',
      'events?view=tenant',
      'events?view=fleet',
    ])
      expect(await get(`${url}/v1/${path}`, plain)).toMatchObject({ status: 403, body: { code: 'SCOPE_REQUIRED' } })
    const listed = await get(`${url}/v1/sessions?view=tenant`, wide)
    expect(listed.body.items).toMatchObject([{ tenant: 'acme', user: 'bob', session: 'one' }])
    const client = new SseClient(`${url}/v1/events?view=tenant&type=task.completed`, { headers: wide })
    await client.until(({ facts }) => facts.length === 1)
    const own = new SseClient(`${url}/v1/events?view=user`, { headers: wide })
    await own.until(({ frames }) => frames.length > 0)
    const fleet = new SseClient(`${url}/v1/events?view=fleet&type=audit.elevated`, { headers: wide })
    await fleet.until(({ facts }) => facts.length === 4)
    expect(fleet.facts.map((fact) => fact.data)).toMatchObject([
      { actor: 'ann', surface: 'sessions', filter: { tenant: 'acme', scope: 'tenant' } },
      { actor: 'ann', surface: 'events', filter: { tenant: 'acme', scope: 'tenant' } },
      { actor: 'ann', surface: 'events', filter: { tenant: 'acme', user: 'ann', scope: 'user' } },
      { actor: 'ann', surface: 'events', filter: { scope: 'fleet' } },
    ])
    expect(own.facts).toEqual([])
    expect(await runtime.sessions({ ...ann })).toEqual([])
  })

  it('a stream ends when its credentials do', async () => {
    const keys = await issuer()
    const { url } = await served({ server: { identity: keys.identity } })
    const headers = await keys.bearer({ ...ann, exp: now() + 1 })
    const client = new SseClient(`${url}/v1/sessions/one/events`, { headers })
    await client.done
    expect(client.status).toBe(200)
    expect(client.frames.at(-1)?.comment).toBe('the credentials have expired')
  })

  it('keys are public and asymmetric, from a file or an address', async () => {
    const keys = await issuer()
    expect(await refusal(async () => localKeySet({ keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }))).toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(await refusal(async () => localKeySet({ keys: [{ ...keys.publicJwk, d: 'x' }] }))).toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(await refusal(async () => localKeySet({ keys: [] }))).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await refusal(loadKeySet('http://keys.example.org/set'))).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await refusal(loadKeySet('/nowhere/keys.json'))).toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('without keys', () => {
  it('is local and local, or who the headers say; a malformed one is nobody', async () => {
    const { url, runtime } = await served()
    await post(`${url}/v1/sessions/one/tasks`, { action: 'start', input: 'x' })
    await post(
      `${url}/v1/sessions/two/tasks`,
      { action: 'start', input: 'x' },
      { 'x-landfall-tenant': 'acme', 'x-landfall-user': 'ann' },
    )
    expect(await runtime.sessions({ tenant: 'local', user: 'local' })).toMatchObject([{ session: 'one' }])
    expect(await runtime.sessions(ann)).toMatchObject([{ session: 'two' }])
    const nobody = await get(`${url}/v1/sessions`, { 'x-landfall-user': '_control' })
    expect(nobody).toMatchObject({ status: 401, body: { code: 'IDENTITY_REQUIRED' } })
    expect((await get(`${url}/v1/sessions`, { 'x-landfall-tenant': 'a'.repeat(129) })).status).toBe(401)
  })

  it('has no elevated claim unless it is named', async () => {
    const { url } = await served()
    expect((await get(`${url}/v1/sessions?view=fleet`)).status).toBe(403)
    expect((await get(`${url}/v1/sessions?view=fleet`, { 'x-landfall-scopes': 'elevated:fleet' })).status).toBe(200)
  })

  it('refuses pages of other origins and names that point here', async () => {
    const { url } = await served()
    const { host, port } = new URL(url)
    const strange: readonly Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://localhost:${Number(port) + 1}` },
      { 'sec-fetch-site': 'cross-site' },
      { host: 'evil.example' },
      { host: `evil.example:${port}` },
      { host: '127.0.0.1.evil.example' },
    ]
    for (const headers of strange) expect(await raw(url, headers), JSON.stringify(headers)).toBe(403)
    for (const headers of [{}, { origin: url }, { host: `localhost:${port}` }, { host: `[::1]:${port}` }, { host }])
      expect(await raw(url, headers), JSON.stringify(headers)).toBe(200)
  })

  it('does not listen where others could reach it', async () => {
    const { server } = await served()
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.org'])
      expect(await refusal(async () => server.listen({ host }))).toMatchObject({ code: 'INVALID_INPUT' })
  })
})

/** A request whose Host is what the test says; `fetch` would write its own. */
function raw(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}/v1/sessions`, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.on('error', reject)
    request.end()
  })
}
