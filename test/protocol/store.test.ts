import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { type Body, get, post, served } from './kit/served.ts'
import { base, begun, hang } from './kit/turns.ts'

vi.setConfig({ testTimeout: 30_000 })

const scope = { tenant: 'local', user: 'local', session: 'one' }

const pay = defineTool({
  name: 'pay',
  description: 'Asks first.',
  input: z.strictObject({}),
  confirm: 'each',
  run: async () => 'paid',
})

describe('the store', () => {
  it('lists capabilities, and takes them away for whoever may', async () => {
    const on = await served({ catalog: [pay] })
    const may = { 'x-landfall-scopes': 'elevated:capabilities' }
    const first = () =>
      get(`${on.url}/v1/capabilities`).then(({ body }) => body.items.find(({ name }: Body) => name === 'pay'))
    expect(await first()).toMatchObject({
      id: 'tool:pay',
      kind: 'tool',
      effect: 'mutate',
      confirm: 'each',
      revoked: false,
      disabled: false,
    })
    for (const path of ['capabilities/tool:pay/revoke', 'providers/host/disable', 'providers/host/enable'])
      expect(await post(`${on.url}/v1/${path}`), path).toMatchObject({ status: 403, body: { code: 'SCOPE_REQUIRED' } })
    expect(await post(`${on.url}/v1/capabilities/tool:pay/revoke`, {}, may)).toMatchObject({
      status: 200,
      body: { ok: true },
    })
    expect(await post(`${on.url}/v1/capabilities/nothing/revoke`, {}, may)).toMatchObject({ status: 404 })
    const { provider } = await first()
    await post(`${on.url}/v1/providers/${provider}/disable`, {}, may)
    expect(await first()).toMatchObject({ revoked: true, disabled: true })
    await post(`${on.url}/v1/providers/${provider}/enable`, {}, may)
    expect(await first()).toMatchObject({ revoked: true, disabled: false })
  })

  it('grants of a task are reduced and never grow', async () => {
    const on = await served({ script: hang, catalog: [pay] })
    const task = await begun(on)
    const reduce = (level: string) =>
      post(`${base(on)}/tasks/${task}/grants`, { id: 'tool:pay', grant: { level, confirm: 'each' } })
    expect((await reduce('none')).body).toMatchObject({ result: 'applied' })
    expect(await reduce('execute')).toMatchObject({ status: 422, body: { code: 'CEILING_CANNOT_GROW' } })
  })

  it('lists sessions in pages', async () => {
    const on = await served()
    for (const session of ['a', 'b', 'c'])
      await post(`${on.url}/v1/sessions/${session}/tasks`, { action: 'start', input: 'x' })
    const first = await get(`${on.url}/v1/sessions?limit=2`)
    const second = await get(`${on.url}/v1/sessions?limit=2&after=${first.body.next}`)
    expect([...first.body.items, ...second.body.items].map(({ session }: Body) => session)).toEqual(['a', 'b', 'c'])
    expect(second.body.next).toBeUndefined()
  })
})

describe('a checkpoint', () => {
  it('goes on elsewhere, as the session of who brings it and of nobody else', async () => {
    const on = await served()
    await on.runtime
      .session(scope)
      .task(await begun(on))
      .outcome()
    const { body: checkpoint } = await get(`${base(on)}/checkpoint`)
    expect(checkpoint.identity).toMatchObject({ session: 'one', turns: 1 })
    const other = await served()
    const restored = await post(`${other.url}/v1/sessions/restore`, checkpoint)
    expect(restored).toMatchObject({ status: 201, body: { ...scope, state: 'open' } })
    expect((await get(`${base(other)}/messages`)).body.items.map(({ content }: Body) => content)).toEqual([
      'x',
      'You said x',
    ])
    expect((await get(`${base(other)}/ledger`)).body.items).toMatchObject([{ kind: 'restore' }])
    await get(`${other.url}/v1/sessions?view=fleet`, { 'x-landfall-scopes': 'elevated:fleet' })
    const first = (await get(`${base(other)}/ledger?limit=1`)).body
    const second = (await get(`${base(other)}/ledger?limit=1&after=${first.next}`)).body
    expect([...first.items, ...second.items].map(({ kind }: Body) => kind)).toEqual(['restore', 'elevated_read'])
    expect(second.next).toBeUndefined()
    expect((await post(`${other.url}/v1/sessions/restore?session=two`, checkpoint)).body).toMatchObject({
      session: 'two',
    })
    const bob = { 'x-landfall-user': 'bob' }
    expect(await post(`${other.url}/v1/sessions/restore`, checkpoint, bob)).toMatchObject({
      status: 403,
      body: { code: 'SCOPE_MISMATCH' },
    })
    const may = { ...bob, 'x-landfall-scopes': 'elevated:tenant' }
    expect(await post(`${other.url}/v1/sessions/restore`, checkpoint, may)).toMatchObject({
      status: 201,
      body: { user: 'bob' },
    })
    for (const broken of [{}, { ...checkpoint, version: 9 }, { ...checkpoint, more: 1 }])
      expect((await post(`${other.url}/v1/sessions/restore?session=three`, broken)).status).toBe(400)
  })
})
