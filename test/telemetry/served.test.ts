import { expect, it, onTestFinished } from 'vitest'
import { createServer } from '../../src/server/landfall-server.ts'
import { openRig } from '../runtime/kit/rig.ts'
import { watch } from './watched.ts'

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

it('a server serves the numbers, tells of its requests, and takes a traceparent from the header of a task', async () => {
  const rig = await openRig()
  const { telemetry, spans, lines } = await watch(rig.runtime)
  const server = createServer(rig.runtime, { metrics: telemetry.metrics, onRequest: telemetry.onRequest })
  const url = await server.listen({ port: 0 })
  onTestFinished(() => server.close())
  const body = JSON.stringify({ action: 'start', input: 'go' })
  const headers = { 'content-type': 'application/json', 'x-landfall-tenant': 't', 'x-landfall-user': 'u' }
  const begun = (session: string, value: string) =>
    fetch(`${url}/v1/sessions/${session}/tasks`, { method: 'POST', body, headers: { ...headers, traceparent: value } })
  expect((await begun('s', traceparent)).status).toBe(201)
  expect((await begun('other', 'no trace context')).status).toBe(201)
  ;(await rig.model.next()).text('done')
  ;(await rig.model.next()).text('done')
  await rig.time.settle()
  const tasks = spans().filter(({ name }) => name === 'task')
  expect(tasks.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(['00f067aa0ba902b7', undefined])
  const text = await (await fetch(`${url}/metrics`)).text()
  expect(text).toMatch(/landfall_task_duration_seconds_count\{landfall_task_status="completed"\} 2/)
  expect(text).toContain('http_route="/v1/sessions/{session}/tasks",http_response_status_code="201"')
  expect(lines.find(({ msg }) => msg === 'request answered')).toMatchObject({ method: 'POST', status: 201 })
  await telemetry.close()
  await rig.close()
})
