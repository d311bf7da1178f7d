import { expect, it, vi } from 'vitest'
import { get, post, served } from './kit/served.ts'
import { issuer } from './kit/tokens.ts'

// Documents of 16 MiB are read and written whole.
vi.setConfig({ testTimeout: 60_000 })

it('takes a checkpoint of a session, and restores it on another server, for whom it belongs to', async () => {
  const [from, to] = [await served(), await served()]
  const base = `${from.url}/v1/sessions/one`
  const { body } = await post(`${base}/tasks`, { action: 'start', input: 'hello' })
  await get(`${base}/tasks/${body.task}?wait=10`)
  const taken = await get(`${base}/checkpoint`)
  expect(taken).toMatchObject({ status: 200, body: { version: 1, identity: { session: 'one', turns: 1 } } })
  expect((await get(`${base}/checkpoint?at=1`)).body).toMatchObject({ history: { revision: 1 } })
  const restore = `${to.url}/v1/sessions/restore`
  expect(await post(restore, taken.body)).toMatchObject({ status: 201, body: { session: 'one', state: 'open' } })
  expect((await get(`${to.url}/v1/sessions/one/messages`)).body.items.length).toBe(2)
  expect(await post(restore, taken.body)).toMatchObject({ status: 409, body: { code: 'CONTEXT_FIXED' } })
  expect(await post(`${restore}?session=two`, taken.body)).toMatchObject({ status: 201, body: { session: 'two' } })
  const stranger = { 'x-landfall-tenant': 'other', 'x-landfall-user': 'other' }
  expect(await post(`${restore}?session=mine`, taken.body, stranger)).toMatchObject({
    status: 403,
    body: { code: 'SCOPE_MISMATCH' },
  })
  expect((await get(`${to.url}/v1/sessions/mine/messages`, stranger)).body.items).toEqual([])
  for (const [document, code] of [
    [{ ...taken.body, model: 'other' }, 'CHECKPOINT_INVALID'],
    [{ ...taken.body, digest: 'none' }, 'CHECKPOINT_INVALID'],
    [{ ...taken.body, version: 2 }, 'CHECKPOINT_VERSION'],
  ])
    expect(await post(`${restore}?session=three`, document)).toMatchObject({ status: 400, body: { code } })
  for (const none of [{}, { identity: null }, { identity: { session: 7 } }])
    expect((await post(restore, none)).status).toBe(400)
})

it('takes a document as large as a checkpoint may be, and says 413 beyond; a command is held to its own bound all the same', async () => {
  const wide = { script: { everyTurn: [{ text: 'ok' }] }, context: { windowTokens: 100_000_000 } }
  const [from, to] = [await served(wide), await served(wide)]
  const session = from.runtime.session({ tenant: 'local', user: 'local', session: 'one' })
  for (const letter of ['a', 'b', 'c']) await (await session.start(letter.repeat(5_400_000))).outcome()
  const document = JSON.stringify(await session.checkpoint())
  const { checkpointBytes, httpBodyBytes } = from.runtime.ports.limits
  expect(document.length).toBeGreaterThan(0.95 * checkpointBytes)
  const send = async (body: string, path = 'restore') => {
    const response = await fetch(`${to.url}/v1/sessions/${path}`, { method: 'POST', body })
    return { status: response.status, body: await response.json() }
  }
  expect(await send(document)).toMatchObject({ status: 201, body: { session: 'one', state: 'open' } })
  const there = to.runtime.session({ tenant: 'local', user: 'local', session: 'one' })
  expect(await there.messages()).toHaveLength(6)
  const beyond = { status: 413, body: { code: 'LIMIT_EXCEEDED', details: { which: 'checkpointBytes' } } }
  expect(await send(document.padEnd(checkpointBytes + 1))).toMatchObject(beyond)
  const command = JSON.stringify({ action: 'start', input: 'x'.repeat(httpBodyBytes) })
  const usual = { status: 413, body: { code: 'LIMIT_EXCEEDED', details: { which: 'httpBodyBytes' } } }
  expect(await send(command, 'one/tasks')).toMatchObject(usual)
})

it('credentials for some sessions bring none of somebody else, whatever they claim', async () => {
  const keys = await issuer()
  const on = await served({ server: { identity: keys.identity } })
  const base = `${on.url}/v1/sessions/one`
  const ada = await keys.bearer({ tenant: 'acme', user: 'ada' })
  const { body } = await post(`${base}/tasks`, { action: 'start', input: 'hello' }, ada)
  await get(`${base}/tasks/${body.task}?wait=10`, ada)
  const taken = (await get(`${base}/checkpoint`, ada)).body
  const bring = async (claims: object) =>
    post(
      `${on.url}/v1/sessions/restore?session=two`,
      taken,
      await keys.bearer({ tenant: 'acme', user: 'bob', scope: 'elevated:tenant', ...claims }),
    )
  expect(await bring({ sessions: ['two'] })).toMatchObject({ status: 403, body: { code: 'SCOPE_MISMATCH' } })
  expect((await bring({})).status).toBe(201)
})

it('lists the ledger in pages', async () => {
  const { url, runtime } = await served()
  const base = `${url}/v1/sessions/one`
  const { body } = await post(`${base}/tasks`, { action: 'start', input: 'hello' })
  await get(`${base}/tasks/${body.task}?wait=10`)
  for (const actor of ['ann', 'bob', 'cid']) await runtime.sessions({ elevated: { actor, scope: 'fleet' } })
  const first = (await get(`${base}/ledger?limit=2`)).body
  expect(first.items).toMatchObject([{ actor: 'ann' }, { actor: 'bob' }])
  expect((await get(`${base}/ledger?limit=2&after=${first.next}`)).body).toMatchObject({ items: [{ actor: 'cid' }] })
})
