import { expect, it } from 'vitest'
import { type Document, operationsOf } from './kit/openapi.ts'
import { ask, get, served } from './kit/served.ts'
import { issuer } from './kit/tokens.ts'

const secret = `ghp_${'a1B2'.repeat(9)}`
const me = {
  'x-landfall-tenant': 't',
  'x-landfall-user': 'u',
  'x-landfall-scopes': 'elevated:fleet elevated:capabilities',
}

it('a tenant, user or session that looks like a credential is refused on every route alike, and is not said again', async () => {
  const on = await served()
  const { body: document } = await get(`${on.url}/openapi.json`)
  const routes = operationsOf(document as Document).filter(({ path }) => path.startsWith('/v1/'))
  const told = new Set<string>()
  let asked = 0
  for (const { method, path } of routes) {
    const address = (session: string) => `${on.url}${path.replace('{session}', session).replaceAll(/\{\w+\}/g, 'x')}`
    const body = method === 'post' ? { body: {} } : {}
    const tries: [field: string, address: string, headers: Record<string, string>][] = [
      ['tenant', address('s'), { ...me, 'x-landfall-tenant': secret }],
      ['user', address('s'), { ...me, 'x-landfall-user': secret }],
    ]
    if (path.includes('{session}')) tries.push(['session', address(secret), me])
    if (path === '/v1/machines') continue
    for (const [field, where, headers] of tries) {
      const answer = await ask(method.toUpperCase(), where, { headers, ...body })
      expect([method, path, field, answer.status, answer.body.code]).toEqual([
        method,
        path,
        field,
        400,
        'INVALID_INPUT',
      ])
      expect(answer.body.detail).toContain('Choose another one')
      told.add(`${field}: ${answer.body.detail}`)
      expect(JSON.stringify(answer.body)).not.toContain(secret)
      asked += 1
    }
  }
  expect(asked).toBeGreaterThan(100)
  expect(told.size).toBe(3)
  const steps = await on.log.tail(0, 1_000)
  expect(JSON.stringify(steps)).not.toContain(secret)
})

it('a token whose user looks like a credential is valid, and is told to take another name', async () => {
  const keys = await issuer()
  const on = await served({ server: { identity: keys.identity } })
  const answer = await get(`${on.url}/v1/sessions`, await keys.bearer({ tenant: 't', user: secret }))
  expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_INPUT'])
  expect(JSON.stringify(answer.body)).not.toContain(secret)
})
