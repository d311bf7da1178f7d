import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { OutcomeUnknownError } from '../../src/facts/errors.ts'
import type { Script } from '../../src/models/script.ts'
import { ask, type Body, get, post, type Served, served } from './kit/served.ts'
import { base, begun, hang } from './kit/turns.ts'

vi.setConfig({ testTimeout: 30_000 })

const scope = { tenant: 'local', user: 'local', session: 'one' }
async function until<T>(look: () => Promise<T | null | undefined>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== null && found !== undefined) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const pauseOf = (on: Served): Promise<Body> => until(async () => (await get(`${base(on)}/pauses`)).body.items[0])

const pay = defineTool({
  name: 'pay',
  description: 'Asks first.',
  input: z.strictObject({}),
  confirm: 'each',
  run: async () => 'paid',
})
const letter = defineTool({
  name: 'post',
  description: 'Hears nothing back.',
  input: z.strictObject({}),
  run: async () => {
    throw new OutcomeUnknownError('no answer')
  },
})

describe('a turn', () => {
  it('busy is 409 and says what is accepted; a repeat is the first receipt; another body is 409', async () => {
    const on = await served({ script: hang })
    const first = await post(`${base(on)}/tasks`, { action: 'start', input: 'x', commandId: 'c1' })
    const again = await post(`${base(on)}/tasks`, { action: 'start', input: 'x', commandId: 'c1' })
    expect(again).toMatchObject({
      status: 201,
      body: { task: first.body.task, receipt: { result: 'duplicate', command: 'c1' } },
    })
    const other = await post(`${base(on)}/tasks`, { action: 'start', input: 'y', commandId: 'c1' })
    expect(other).toMatchObject({ status: 409, body: { code: 'COMMAND_CONFLICT' } })
    const busy = await post(`${base(on)}/tasks`, { action: 'start', input: 'y' })
    expect(busy).toMatchObject({
      status: 409,
      body: {
        code: 'SESSION_BUSY',
        details: { task: first.body.task, accepted: ['steer', 'followUp', 'supersede', 'cancel'] },
      },
    })
  })

  it('is steered, superseded and cancelled; what waits is listed, replaced and cancelled', async () => {
    const on = await served({ script: hang })
    const first = await begun(on)
    expect(
      await post(`${base(on)}/tasks/${first}/steer`, { input: 'left', mode: 'boundary', commandId: 's1' }),
    ).toMatchObject({
      status: 200,
      body: { result: 'queued', task: first, command: 's1' },
    })
    const queued = await begun(on, { action: 'follow_up', requires: 'success' })
    expect((await get(`${base(on)}/queue`)).body.items).toMatchObject([
      { id: queued, state: 'queued', requires: 'success' },
    ])
    const second = await begun(on, { action: 'supersede', task: first })
    expect((await get(`${base(on)}/tasks/${first}?wait=10`)).body).toMatchObject({ status: 'superseded' })
    expect((await post(`${base(on)}/tasks/${second}/cancel`, { reason: 'enough' })).body).toMatchObject({
      result: 'applied',
    })
    expect((await get(`${base(on)}/tasks/${second}?wait=10`)).body.outcome).toMatchObject({
      status: 'cancelled',
      reason: 'enough',
    })
    // Its predecessor did not complete.
    expect((await get(`${base(on)}/tasks/${queued}`)).body).toMatchObject({ state: 'blocked' })
    expect((await get(`${base(on)}/queue`)).body.items).toMatchObject([{ id: queued, state: 'blocked' }])
    expect(await post(`${base(on)}/tasks/${queued}/replace`, { input: 'better' })).toMatchObject({ status: 200 })
    expect((await get(`${base(on)}/tasks/${queued}`)).body).toMatchObject({ state: 'running', requires: 'none' })
    expect((await post(`${base(on)}/tasks/${queued}/unblock`)).status).toBe(422)
    expect((await post(`${base(on)}/tasks/${queued}/cancel`)).status).toBe(200)
    expect((await get(`${base(on)}/tasks/${queued}?wait=10`)).body.status).toBe('cancelled')
    expect((await post(`${base(on)}/tasks/${queued}/steer`, { input: 'late' })).status).toBe(422)
  })

  it('is paused and resumed, by the token or as its only pause', async () => {
    const on = await served({ script: hang })
    const task = await begun(on)
    expect((await post(`${base(on)}/tasks/${task}/pause`)).status).toBe(200)
    const { token } = await pauseOf(on)
    const nobody = await post(`${base(on)}/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV/resume`, { token })
    expect(nobody).toMatchObject({ status: 404, body: { code: 'PAUSE_NOT_FOUND' } })
    expect((await post(`${base(on)}/tasks/${task}/resume`)).body).toMatchObject({ result: 'applied' })
    expect(await post(`${base(on)}/tasks/${task}/resume`, { token })).toMatchObject({
      status: 422,
      body: { code: 'ALREADY_SETTLED' },
    })
    expect((await post(`${base(on)}/tasks/${task}/resume`)).body.code).toBe('PAUSE_NOT_FOUND')
  })

  it('is resumed once by one command id, without a token too, also when another pause is open by then', async () => {
    const on = await served({ script: hang })
    const task = await begun(on)
    const resume = () => post(`${base(on)}/tasks/${task}/resume`, { commandId: 'r1' })
    await post(`${base(on)}/tasks/${task}/pause`)
    const first = await resume()
    expect(first).toMatchObject({ status: 200, body: { result: 'applied', command: 'r1' } })
    const again = { status: 200, body: { result: 'duplicate', command: 'r1', seq: first.body.seq } }
    expect(await resume()).toMatchObject(again)
    await post(`${base(on)}/tasks/${task}/pause`)
    expect(await resume()).toMatchObject(again)
    expect((await pauseOf(on)).task).toBe(task)
  })

  it('a wait is over when its time is, and leaves no listener behind', async () => {
    const on = await served({ script: hang })
    const task = await begun(on)
    for (let round = 0; round < 20; round += 1)
      expect((await get(`${base(on)}/tasks/${task}?wait=0.01`)).body).toMatchObject({ id: task, state: 'running' })
    const cut = new AbortController()
    const held = fetch(`${base(on)}/tasks/${task}?wait=60`, { signal: cut.signal }).catch(() => {})
    cut.abort()
    await held
    await on.runtime.session(scope).cancel()
    expect((await get(`${base(on)}/tasks/${task}?wait=10`)).body.status).toBe('cancelled')
  })
})

describe('a background task', () => {
  it('runs beside the turn; its key names it, whoever asks again', async () => {
    const script: Script = { name: 'both', everyTurn: [{ hang: true }], background: [{ text: 'child done' }] }
    const on = await served({ script })
    const turn = await begun(on)
    const spawn = (body: object, key?: string) =>
      post(
        `${base(on)}/tasks`,
        { kind: 'background', input: 'look', ...body },
        key === undefined ? {} : { 'idempotency-key': key },
      )
    const first = await spawn({ parent: turn }, 'k1')
    expect(first).toMatchObject({ status: 201, body: { receipt: { result: 'applied' } } })
    const ended = await get(`${base(on)}/tasks/${first.body.task}?wait=10`)
    expect(ended.body).toMatchObject({
      kind: 'background',
      origin: 'spawn',
      parent: turn,
      outcome: { message: 'child done' },
    })
    expect((await spawn({ parent: turn }, 'k1')).body).toMatchObject({
      task: first.body.task,
      receipt: { reused: true },
    })
    expect(await spawn({ parent: turn, input: 'other' }, 'k1')).toMatchObject({
      status: 409,
      body: { code: 'IDEMPOTENCY_CONFLICT' },
    })
    expect((await spawn({ parent: turn })).body.task).not.toBe(first.body.task)
    const secret = 'sk-ant-idempotency0000001'
    const refused = await spawn({}, secret)
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
    expect(JSON.stringify(refused.body)).not.toContain(secret)
    expect((await spawn({ action: 'start' })).status).toBe(400)
    for (const unknown of [{ parent: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }, { group: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }]) {
      expect((await spawn(unknown)).status).toBe(404)
      // Nor does it open a session.
      const nowhere = `${on.url}/v1/sessions/never/tasks`
      expect((await post(nowhere, { kind: 'background', input: 'look', ...unknown })).status).toBe(404)
      expect((await get(`${on.url}/v1/sessions/never`)).status).toBe(404)
    }
  })
})

describe('a call', () => {
  it('that waits is allowed or denied by its confirmation alone', async () => {
    const script = { name: 'pays', everyTurn: [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'ended' }] }
    const on = await served({ script, catalog: [pay] })
    const task = await begun(on)
    const { token, call, subject } = await pauseOf(on)
    expect(subject).toMatchObject({ name: 'pay', arguments: {} })
    expect((await get(`${base(on)}/calls`)).body.items).toMatchObject([{ id: call, task, name: 'pay', state: 'held' }])
    const confirm = (of: string, confirmation: string, decision = 'allow') =>
      post(`${base(on)}/calls/${of}/confirm`, { decision, confirmation })
    expect(await confirm('01ARZ3NDEKTSV4RRFFQ69G5FAV', token)).toMatchObject({
      status: 422,
      body: { code: 'CONFIRMATION_MISMATCH' },
    })
    expect((await confirm(call, 'x')).status).toBe(404)
    expect((await confirm(call, token)).body).toMatchObject({ result: 'applied' })
    expect(await confirm(call, token)).toMatchObject({ status: 422, body: { code: 'ALREADY_SETTLED' } })
    const ended = await get(`${base(on)}/tasks/${task}?wait=10`)
    expect(ended.body.outcome.calls).toMatchObject({ total: 1, succeededMutating: 1 })
    await begun(on)
    const next = await pauseOf(on)
    expect((await confirm(next.call, next.token, 'deny')).status).toBe(200)
    await until(async () => ((await get(`${base(on)}/calls`)).body.items[1]?.outcome === 'refused' ? true : null))
  })

  it('with an unknown outcome is acknowledged, once', async () => {
    const script = { name: 'posts', everyTurn: [{ calls: [{ name: 'post', arguments: {} }] }, { text: 'ended' }] }
    const on = await served({ script, catalog: [letter] })
    const task = await begun(on)
    await get(`${base(on)}/tasks/${task}?wait=10`)
    expect((await get(base(on))).body).toMatchObject({ session: 'one', state: 'open', quarantined: 1 })
    expect((await post(`${base(on)}/acknowledge`, { calls: 'all' })).body).toMatchObject({ result: 'applied' })
    expect(await post(`${base(on)}/acknowledge`, { calls: 'all' })).toMatchObject({
      status: 422,
      body: { code: 'NOT_QUARANTINED' },
    })
    expect((await get(base(on))).body.quarantined).toBe(0)
  })
})

describe('a session', () => {
  it('is closed, reopened and erased', async () => {
    const on = await served()
    const task = await begun(on)
    await get(`${base(on)}/tasks/${task}?wait=10`)
    expect((await post(`${base(on)}/close`, { reason: 'lunch' })).body).toMatchObject({ result: 'applied' })
    expect(await post(`${base(on)}/tasks`, { action: 'start', input: 'x' })).toMatchObject({
      status: 422,
      body: { code: 'SESSION_CLOSED' },
    })
    expect((await post(`${base(on)}/reopen`)).status).toBe(200)
    expect((await ask('DELETE', base(on), { body: { commandId: 'gone' } })).body).toMatchObject({ result: 'applied' })
    expect((await get(base(on))).body.state).toBe('erased')
    expect((await get(`${base(on)}/messages`)).body).toEqual({ items: [] })
    expect(await post(`${base(on)}/tasks`, { action: 'start', input: 'x' })).toMatchObject({
      status: 422,
      body: { code: 'SESSION_ERASED' },
    })
  })

  it('that was never opened has empty lists and no single thing', async () => {
    const on = await served()
    for (const list of ['tasks', 'queue', 'calls', 'pauses', 'messages', 'log', 'memory'])
      expect(await get(`${base(on)}/${list}`), list).toMatchObject({ status: 200, body: { items: [] } })
    for (const one of ['', '/state', '/request?seq=1', '/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV'])
      expect(await get(`${base(on)}${one}`), one).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    for (const command of ['close', 'reopen', 'acknowledge'])
      expect(await post(`${base(on)}/${command}`, command === 'acknowledge' ? { calls: 'all' } : {})).toMatchObject({
        status: 404,
      })
  })

  it('is read in pages that join, of facts and of everything else', async () => {
    const on = await served()
    for (let turn = 0; turn < 5; turn += 1)
      await on.runtime
        .session(scope)
        .task(await begun(on))
        .outcome()
    for (const [list, whole] of [
      ['log', await on.runtime.session(scope).log()],
      ['messages', await on.runtime.session(scope).messages()],
      ['tasks', await on.runtime.session(scope).tasks()],
    ] as const) {
      const joined: unknown[] = []
      let after = ''
      for (let pages = 0; ; pages += 1) {
        const { body } = await get(`${base(on)}/${list}?limit=2${after}`)
        joined.push(...body.items)
        if (body.next === undefined) {
          expect(pages, list).toBe(Math.ceil(whole.length / 2) - 1)
          break
        }
        after = `&after=${body.next}`
      }
      expect(joined, list).toEqual(JSON.parse(JSON.stringify(whole)))
    }
    expect((await get(`${base(on)}/state?at=3`)).body.seq).toBe(3)
    expect((await get(`${base(on)}/state?at=9999`)).status).toBe(404)
    const counted = await get(`${base(on)}/events/aggregate?window=1h&bucket=10m&type=task.completed`)
    expect(counted.body.items.map(({ count }: Body) => count)).toEqual([0, 0, 0, 0, 0, 5])
    expect((await get(`${base(on)}/events/aggregate?window=1h&bucket=1ms`)).status).toBe(413)
  })
})
