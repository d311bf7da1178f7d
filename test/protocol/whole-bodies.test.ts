import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { type Body, get, post, served } from './kit/served.ts'
import { base } from './kit/turns.ts'

/** The text as it is: what `JSON.stringify` of an object literal would not even write. */
async function send(address: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(address, { method: 'POST', body, headers })
  return { status: response.status, body: (await response.json()) as Body }
}

it('settings keep every name that the body has, in the request to the model and in what a repeat is compared with', async () => {
  const on = await served()
  const start = (settings: string, commandId: string) =>
    send(`${base(on)}/tasks`, `{"action":"start","input":"x","commandId":"${commandId}","settings":${settings}}`)
  const odd = '{"__proto__":{"c":2},"a":{"__proto__":{"b":1}}}'
  const first = await start(odd, 'c1')
  expect(first.status).toBe(201)
  await get(`${base(on)}/tasks/${first.body.task}?wait=20`)
  expect(await start(odd, 'c1')).toMatchObject({ status: 201, body: { receipt: { result: 'duplicate' } } })
  expect(await start('{"a":{}}', 'c1')).toMatchObject({ status: 409, body: { code: 'COMMAND_CONFLICT' } })
  const session = on.runtime.session({ tenant: 'local', user: 'local', session: 'one' })
  const sent = (await session.log()).find(({ type }) => type === 'model.requested')
  expect(JSON.stringify((await session.request({ seq: sent?.seq ?? 0 })).settings)).toBe(odd)
})

it('the answer to a pause reaches the tool with every name that it has', async () => {
  const seen: string[] = []
  const ask = defineTool({
    name: 'ask',
    description: 'Asks.',
    input: z.object({}),
    run: (_args, { pause, resumed }) => {
      if (resumed === undefined) return pause({ reason: 'input', subject: 'what?' })
      seen.push(JSON.stringify(resumed.input))
      return 'heard'
    },
  })
  const script = { turns: [[{ calls: [{ name: 'ask', arguments: {} }] }, { text: 'ok' }]] }
  const on = await served({ catalog: [ask], script })
  const { body } = await post(`${base(on)}/tasks`, { action: 'start', input: 'x' })
  while ((await get(`${base(on)}/pauses`)).body.items.length === 0) await new Promise(setImmediate)
  const resumed = await send(`${base(on)}/tasks/${body.task}/resume`, '{"input":{"__proto__":{"a":1},"b":[2]}}')
  expect(resumed.status).toBe(200)
  await get(`${base(on)}/tasks/${body.task}?wait=20`)
  expect(seen).toEqual(['{"__proto__":{"a":1},"b":[2]}'])
})

it('what no part of a body may be called is refused, not passed over', async () => {
  const on = await served()
  const odd = '"__proto__":{"level":"none","confirm":"none"}'
  for (const [path, body] of [
    ['tasks', `{"action":"start","input":"x",${odd}}`],
    ['tasks', `{"action":"start","input":"x","grants":{${odd}}}`],
    ['tasks', `{"action":"start","input":[{"type":"text","text":"x",${odd}}]}`],
    ['tasks', `{"kind":"background","input":"x","limits":{${odd}}}`],
    ['close', `{${odd}}`],
  ])
    expect(await send(`${base(on)}/${path}`, body ?? ''), body).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT' },
    })
  expect(await send(`${on.url}/v1/sessions/restore?session=s`, `{${odd}}`)).toMatchObject({ status: 400 })
  expect(await on.log.tail(0, 10)).toEqual([])
})

it('an option that holds nothing is the same wish as none, also over HTTP', async () => {
  const on = await served()
  const spawn = (more: object) =>
    post(`${base(on)}/tasks`, { kind: 'background', input: 'x', ...more }, { 'idempotency-key': 'k' })
  const { body } = await spawn({ limits: {}, grants: {}, skills: [], settings: {} })
  for (const more of [{}, { limits: {} }, { grants: {} }, { skills: [] }, { settings: {} }])
    expect(await spawn(more)).toMatchObject({ status: 201, body: { task: body.task, receipt: { reused: true } } })
  const start = (more: object) =>
    post(`${base(on)}/tasks`, { action: 'follow_up', input: 'x', commandId: 'c', ...more })
  const first = await start({ grants: {} })
  expect(await start({ skills: [] })).toMatchObject({ status: 201, body: { task: first.body.task } })
})
