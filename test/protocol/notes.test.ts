import { expect, it } from 'vitest'
import { get, post, served } from './kit/served.ts'

it('notes something, promotes it where the policy allows, and removes it; keys stand in no address', async () => {
  const { url } = await served({ memoryPolicy: ({ to }) => (to === 'user' ? 'allow' : 'deny') })
  const base = `${url}/v1/sessions/one`
  const { body } = await post(`${base}/tasks`, { action: 'start', input: 'hello' })
  await get(`${base}/tasks/${body.task}?wait=10`)
  const note = { key: 'likes/tea', value: { green: true }, commandId: 'n1' }
  expect((await post(`${base}/memory`, note)).body).toMatchObject({ result: 'applied', command: 'n1' })
  expect((await post(`${base}/memory`, note)).body).toMatchObject({ result: 'duplicate' })
  expect((await get(`${base}/memory`)).body.items).toMatchObject([{ key: 'likes/tea' }])
  expect((await get(`${base}/memory?key=likes/tea`)).body).toMatchObject({ value: { green: true } })
  const promote = (to: string) => post(`${base}/memory/promote`, { key: 'likes/tea', to })
  expect((await promote('user')).status).toBe(200)
  expect(await promote('tenant')).toMatchObject({ status: 403, body: { code: 'AUTHORIZATION_DENIED' } })
  const remove = (body: object) => post(`${base}/memory/remove`, { key: 'likes/tea', ...body })
  expect((await remove({})).status).toBe(200)
  expect(await remove({})).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  expect((await get(`${base}/memory?scope=user`)).body.items).toMatchObject([{ key: 'likes/tea' }])
  expect((await remove({ scope: 'user' })).status).toBe(200)
  expect((await get(`${base}/memory?scope=user`)).body.items).toEqual([])
  for (const wrong of [{}, { key: 'a' }, { key: '', value: 1 }, { key: 'a', value: 1, tenant: 'other' }])
    expect(await post(`${base}/memory`, wrong), JSON.stringify(wrong)).toMatchObject({ status: 400 })
})
