import { expect, it } from 'vitest'
import { type Body, get, post, served } from './kit/served.ts'
import { SseClient } from './kit/sse-client.ts'

it('runs a turn: 201 with the task, the outcome by long poll, and every read of the session', async () => {
  const { url } = await served()
  const base = `${url}/v1/sessions/one`
  const started = await post(`${base}/tasks`, { action: 'start', input: 'hello', commandId: 'c1' })
  expect(started.status).toBe(201)
  expect(started.body).toMatchObject({ receipt: { result: 'applied', command: 'c1' }, seq: 1 })
  const ended = await get(`${base}/tasks/${started.body.task}?wait=10`)
  expect(ended).toMatchObject({
    status: 200,
    body: { state: 'terminal', status: 'completed', outcome: { message: 'You said hello' } },
  })
  expect((await get(`${base}/messages`)).body.items.map((message: Body) => message.content)).toEqual([
    'hello',
    'You said hello',
  ])
  const { items } = (await get(`${base}/log`)).body
  expect(items.map((fact: Body) => fact.seq)).toEqual(items.map((_: Body, at: number) => at + 1))
  const client = new SseClient(`${base}/events?ephemeral=false`)
  await client.until(({ facts }) => facts.length === items.length)
  expect(client.facts.map(({ resume: _, ...fact }) => fact)).toEqual(items)
})
