import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { ModelError } from '../../src/facts/ports.ts'
import { ask, get, post, served } from './kit/served.ts'
import { SseClient } from './kit/sse-client.ts'

const scope = { tenant: 'local', user: 'local', session: 'one' }

/** Credentials in forms that the redactor knows, one for each place, and words that are no credential at all. */
const planted = {
  input: 'sk-ant-input00000000000001',
  argument: 'ghp_argument000000000000000000001',
  output: 'AKIAOUTPUTOUTPUT0001',
  toolError: 'xoxb-tool-error-0000000001',
  modelError: 'glpat-model-error-000001',
  commandId: 'sk-ant-command000000000001',
  reason: 'npm_reasonreasonreasonreasonreason1',
  steering: 'sk-ant-steering00000000001',
  taskId: 'sk-ant-taskid000000000001',
  settings: 'sk-ant-settings00000000001',
  field: 'sk-ant-field000000000000001',
  session: 'sk-ant-session000000000001',
  said: 'sk-ant-answer0000000000001',
}
const words = 'an ordinary sentence that nobody but its owner may read'

const tool = (name: string, run: () => Promise<string>) =>
  defineTool({ name, description: 'Keeps a secret.', input: z.strictObject({ with: z.string() }), run })
const catalog = [
  tool('open', async () => `${planted.output} ${words}`),
  tool('break', async () => {
    throw new Error(`${planted.toolError} ${words}`)
  }),
]
const calls = ['open', 'break'].map((name) => ({ name, arguments: { with: `${planted.argument} ${words}` } }))

/** Guards INV-12 over HTTP: no frame, no fact and no problem holds what was planted. */
it('what was planted is in no fact, no frame and no problem', async () => {
  const script = {
    name: 'keeper',
    turns: [
      [{ calls }, { chunks: ['I say sk-ant-', `answer0000000000001 and stop`] }],
      [{ error: { code: 'QUOTA', retryable: false } }],
    ],
    everyTurn: [{ delayMs: 30_000, text: 'late' }],
  }
  const on = await served({ script, catalog })
  const base = `${on.url}/v1/sessions/one`
  const client = new SseClient(`${base}/events`)
  await client.until(({ frames }) => frames.length > 0)
  const input = `${planted.input} ${words}`
  const said: string[] = []
  const told = async (answer: Promise<{ status: number; body: unknown }>) => {
    const { status, body } = await answer
    said.push(JSON.stringify(body))
    return { status, body }
  }
  const run = async (more: object = {}) => {
    const { body } = await post(`${base}/tasks`, { action: 'follow_up', input, ...more })
    return String(body.task)
  }
  await on.runtime
    .session(scope)
    .task(await run())
    .outcome()
  await on.runtime
    .session(scope)
    .task(await run())
    .outcome()
  const running = await run()
  await told(post(`${base}/tasks/${running}/steer`, { input: `${planted.steering} ${words}` }))
  await told(post(`${base}/tasks`, { action: 'start', input }))
  await told(post(`${base}/tasks`, { action: 'start', input, commandId: planted.commandId }))
  await told(post(`${base}/tasks`, { action: 'start', input, settings: { [planted.settings]: words } }))
  await told(post(`${base}/tasks`, { action: 'start', input, model: planted.settings }))
  await told(post(`${base}/tasks`, { action: 'start', input, [planted.field]: words }))
  await told(post(`${base}/tasks`, { action: planted.field, input }))
  await told(post(`${base}/tasks/${planted.taskId}/cancel`))
  await told(post(`${base}/tasks/${planted.taskId}/steer`, { input }))
  await told(get(`${base}/tasks/${planted.taskId}`))
  await told(get(`${on.url}/v1/sessions/${planted.session}/state`))
  await told(get(`${on.url}/v1/nowhere/${planted.session}`))
  await told(get(`${base}/events?type=${planted.field}`))
  await told(get(`${base}/events?after=${planted.field}`))
  await told(
    ask('POST', `${base}/calls/${planted.taskId}/confirm`, {
      body: { decision: 'allow', confirmation: planted.field },
    }),
  )
  await told(post(`${base}/acknowledge`, { calls: [planted.taskId] }))
  const malformed = await fetch(`${base}/tasks`, { method: 'POST', body: `{"input": "${planted.input} ${words}` })
  said.push(await malformed.text())
  await told(post(`${base}/tasks/${running}/cancel`, { reason: `${planted.reason} was tried` }))
  await client.until(({ facts }) => facts.some(({ type, task }) => type === 'task.cancelled' && task === running))
  said.push(JSON.stringify((await get(`${base}/log?limit=1000`)).body))
  said.push(JSON.stringify((await get(`${base}/calls`)).body).replaceAll(words, ''))
  for (const frame of client.frames) said.push(JSON.stringify(frame))
  expect(said.length).toBeGreaterThan(60)
  for (const text of said) {
    for (const [where, secret] of Object.entries(planted)) expect(text, where).not.toContain(secret)
    expect(text).not.toContain(words)
  }
  // The test would see nothing if nothing had been said.
  const messages = JSON.stringify((await get(`${base}/messages`)).body)
  for (const kept of [planted.input, planted.argument, words]) expect(messages).toContain(kept)
})

it('what facts must tell as it is, and looks like a credential, is refused and stored nowhere', async () => {
  const on = await served()
  const tasks = `${on.url}/v1/sessions/one/tasks`
  const grant = { level: 'none', confirm: 'none' }
  const watching = new SseClient(`${on.url}/v1/events?view=fleet`, {
    headers: { 'x-landfall-scopes': 'elevated:fleet' },
  })
  const asked = { action: 'follow_up', input: 'x' }
  const { body } = await post(tasks, { ...asked, settings: { temperature: 1, maxOutput: 64, stop: ['token'] } })
  await get(`${tasks}/${body.task}?wait=10`)
  for (const answer of [
    await post(tasks, { ...asked, settings: { note: planted.settings } }),
    await post(tasks, { ...asked, settings: { deep: [{ apiKey: 'hunter2' }] } }),
    await post(tasks, { kind: 'background', input: 'x', settings: { [planted.settings]: 1 } }),
    await post(tasks, { ...asked, grants: { [planted.field]: grant } }),
    await post(`${tasks}/${body.task}/grants`, { id: planted.field, grant }),
    await ask('POST', `${on.url}/v1/providers/${planted.field}/disable`, {
      headers: { 'x-landfall-scopes': 'elevated:capabilities' },
    }),
  ]) {
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
    expect(JSON.stringify(answer.body)).not.toMatch(/sk-ant|hunter2/)
  }
  await watching.until(({ facts }) => facts.some(({ type }) => type === 'task.completed'))
  expect(JSON.stringify(watching.facts)).not.toMatch(/sk-ant|hunter2/)
  expect(await on.runtime.session(scope).tasks()).toHaveLength(1)
})

it('a fault of ours says nothing of itself', async () => {
  const on = await served()
  const { runtime } = on
  Object.assign(runtime.reads, {
    session: async () => {
      throw new Error(`${planted.toolError} at line 12 of secret.ts`)
    },
  })
  const { status, body } = await get(`${on.url}/v1/sessions/one`)
  expect(status).toBe(500)
  expect(body).toEqual({
    type: 'about:blank',
    title: 'Internal Server Error',
    status: 500,
    code: 'INTERNAL',
    detail: 'The server met a fault of its own. Its log names the request.',
    retryable: false,
  })
})

it('a redactor that fails withholds what it should have seen', async () => {
  const broken = {
    name: 'broken',
    text: () => {
      throw new ModelError({ code: 'X', retryable: false, message: planted.modelError })
    },
    value: () => {
      throw new Error(planted.modelError)
    },
  }
  const on = await served({ redactor: broken })
  const { status, body } = await get(`${on.url}/v1/sessions/one/state`)
  // Names of tenants, users and sessions are looked at as well: what nobody could look at is refused.
  expect(status).toBe(400)
  expect(body).toMatchObject({ code: 'INVALID_INPUT', detail: 'The description was withheld.' })
  expect(JSON.stringify(body)).not.toContain(planted.modelError)
})
