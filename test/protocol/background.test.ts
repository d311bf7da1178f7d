import { expect, it } from 'vitest'
import { type Body, get, served } from './kit/served.ts'

async function spawn(url: string, key: string, body: object): Promise<{ status: number; body: Body }> {
  const headers = { 'content-type': 'application/json', 'Idempotency-Key': key }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: answer.status, body: (await answer.json()) as Body }
}

it('an operator spawns a background task under an idempotency key', async () => {
  const { url } = await served()
  const tasks = `${url}/v1/sessions/jobs/tasks`
  const first = await spawn(tasks, 'k', { kind: 'background', input: 'count' })
  expect(first).toMatchObject({ status: 201, body: { receipt: { result: 'applied' } } })
  const again = await spawn(tasks, 'k', { input: 'count', kind: 'background' })
  expect(again.body).toMatchObject({ task: first.body.task, receipt: { result: 'joined', reused: true } })
  const other = await spawn(tasks, 'k', { kind: 'background', input: 'count more' })
  expect(other).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_CONFLICT' } })
  const ended = await get(`${tasks}/${first.body.task}?wait=10`)
  expect(ended.body).toMatchObject({ kind: 'background', origin: 'spawn', status: 'completed' })
})
