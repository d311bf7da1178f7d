import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { type Body, get, post, served } from './kit/served.ts'
import { base, begun, hang } from './kit/turns.ts'

const input = z.object({ n: z.number() })
const tool = (name: string) => defineTool({ name, description: 'Does it.', input, confirm: 'each', run: () => 'done' })

/** Reads a list in pages of two; `between` runs before each page but the first. */
async function paged(address: string, between: (page: number, items: readonly Body[]) => Promise<unknown>) {
  const items: Body[] = []
  let after = ''
  for (let page = 0; page < 20; page += 1) {
    if (page > 0) await between(page, items)
    const answer = await get(`${address}${address.includes('?') ? '&' : '?'}limit=2${after}`)
    expect([answer.status, answer.body.code]).toEqual([200, undefined])
    items.push(...answer.body.items)
    if (answer.body.next === undefined) return items
    after = `&after=${answer.body.next}`
  }
  throw new Error('the list does not end')
}

const ids = (items: readonly Body[]) => items.map(({ id }) => id)

it('the queue: what was read may leave, and the rest is read once, in its order', async () => {
  const on = await served({ script: hang })
  await begun(on)
  const queued: string[] = []
  for (let n = 0; n < 6; n += 1) queued.push(await begun(on, { action: 'follow_up', input: `${n}` }))
  const found = await paged(`${base(on)}/queue`, async (page, items) => {
    // The very item that the last page ended with, and one that nobody has read yet.
    await post(`${base(on)}/tasks/${items.at(-1)?.id}/cancel`)
    if (page === 1) await post(`${base(on)}/tasks/${queued[2]}/cancel`)
    if (page === 2) queued.push(await begun(on, { action: 'follow_up', input: 'late' }))
  })
  expect(ids(found)).toEqual(queued.filter((_, at) => at !== 2))
})

it('the queue: a replacement goes first, and what was queued before it is behind it, also when it has left', async () => {
  let release = (_value: string) => {}
  const deaf = new Promise<string>((resolve) => {
    release = resolve
  })
  const wait = defineTool({ name: 'wait', description: 'Waits.', input: z.object({}), run: () => deaf })
  const script = { turns: [[{ calls: [{ name: 'wait', arguments: {} }] }]], otherwise: { text: 'ok' } }
  const on = await served({ script, catalog: [wait], limits: { graceMs: 60_000 } })
  await begun(on)
  while ((await get(`${base(on)}/calls`)).body.items[0]?.state !== 'started') await new Promise(setImmediate)
  const first = await begun(on, { action: 'follow_up' })
  const second = await begun(on, { action: 'follow_up' })
  const replacement = await begun(on, { action: 'supersede' })
  const page = async (query: string) => (await get(`${base(on)}/queue?limit=1${query}`)).body
  const head = await page('')
  expect(ids(head.items)).toEqual([replacement])
  expect(ids((await page(`&after=${head.next}`)).items)).toEqual([first])
  await post(`${base(on)}/tasks/${replacement}/cancel`)
  const behind = await page(`&after=${head.next}`)
  expect(ids(behind.items)).toEqual([first])
  expect(ids((await page(`&after=${behind.next}`)).items)).toEqual([second])
  release('at last')
  await get(`${base(on)}/tasks/${second}?wait=30`)
})

it('pauses: a decision on the last one of a page does not end the list', async () => {
  const calls = [1, 2, 3, 4, 5].map((n) => ({ name: 'act', arguments: { n } }))
  const on = await served({ catalog: [tool('act')], script: { turns: [[{ calls }, { text: 'done' }]] } })
  const turn = await begun(on)
  const open = async () => (await get(`${base(on)}/pauses`)).body.items
  while ((await open()).length < 5) await new Promise((resolve) => setImmediate(resolve))
  const all = await open()
  const found = await paged(`${base(on)}/pauses`, async (_page, items) => {
    const { token, call } = items.at(-1)
    const body = { decision: 'deny', confirmation: token }
    expect((await post(`${base(on)}/calls/${call}/confirm`, body)).status).toBe(200)
  })
  expect(found.map(({ token }) => token)).toEqual(all.map(({ token }: Body) => token))
  await post(`${base(on)}/tasks/${turn}/cancel`)
  expect(ids(await paged(`${base(on)}/calls`, async () => {}))).toHaveLength(5)
})

it('tasks, calls and sessions: what comes meanwhile is at its place, and nothing comes twice', async () => {
  const on = await served({ script: { everyTurn: [{ calls: [{ name: 'nothing', arguments: {} }] }, { text: 'ok' }] } })
  const turn = async () => {
    const task = await begun(on, { action: 'follow_up' })
    await get(`${base(on)}/tasks/${task}?wait=30`)
    return task
  }
  const tasks = [await turn(), await turn(), await turn()]
  const read = await paged(`${base(on)}/tasks`, async (page) => page === 1 && tasks.push(await turn()))
  expect(ids(read)).toEqual(tasks)
  const called = await paged(`${base(on)}/calls`, async (page) => page === 1 && tasks.push(await turn()))
  expect(called.map(({ task }) => task)).toEqual(tasks)
  const name = (session: string) => post(`${on.url}/v1/sessions/${session}/tasks`, { action: 'start', input: 'x' })
  for (const session of ['b', 'd', 'f']) await name(session)
  const sessions = await paged(`${on.url}/v1/sessions`, async (page) => {
    if (page === 1) await name('a')
    if (page === 1) await name('e')
  })
  expect(sessions.map(({ session }) => session)).toEqual(['b', 'd', 'e', 'f', 'one'])
})

it('notes and capabilities: one that is gone is still a place to go on from', async () => {
  const on = await served({ catalog: ['a', 'b', 'c', 'd', 'e'].map(tool) })
  const session = on.runtime.session({ tenant: 'local', user: 'local', session: 'one' })
  for (const key of ['a', 'b', 'c', 'd', 'e']) await session.memory.put(key, 1)
  const notes = await paged(`${base(on)}/memory`, async (_page, items) => session.memory.remove(items.at(-1).key))
  expect(notes.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'd', 'e'])
  const capabilities = await paged(`${on.url}/v1/capabilities`, async (_page, items) => {
    const left = ['a', 'b', 'c', 'd', 'e'].filter((name) => !items.some((item) => item.name === name))
    on.runtime.catalog.replace(left.map(tool))
  })
  expect(capabilities.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e'])
})

it('the ledger: both of its streams grow while it is read, and nothing of either is left out', async () => {
  const on = await served({ script: { everyTurn: [{ calls: [{ name: 'nothing', arguments: {} }] }, { text: 'ok' }] } })
  const turn = async () => get(`${base(on)}/tasks/${await begun(on)}?wait=30`)
  const look = () => get(`${on.url}/v1/sessions?view=tenant`, { 'x-landfall-scopes': 'elevated:tenant' })
  await turn()
  for (let n = 0; n < 3; n += 1) await look()
  const found = await paged(`${base(on)}/ledger`, async (page) => {
    if (page === 2) await Promise.all([turn(), look()])
  })
  const whole = (await get(`${base(on)}/ledger`)).body.items
  const name = ({ kind, seq }: Body) => `${kind} ${seq}`
  expect(found.map(name).sort()).toEqual(whole.map(name).sort())
  expect(whole.filter(({ kind }: Body) => kind === 'elevated_read')).toHaveLength(4)
  expect(whole.filter(({ kind }: Body) => kind === 'call')).toHaveLength(2)
})

it('what is no place of a list is refused, and not taken for its beginning', async () => {
  const on = await served({ catalog: [tool('a')] })
  await begun(on)
  const places = ['x', '%20', 'bnVsbA', 'W10', 'W1tdXQ', Buffer.from('["a","b","c","d"]').toString('base64url')]
  for (const list of ['/v1/sessions', '/v1/capabilities', '/v1/sessions/one/tasks'])
    for (const after of places) {
      const answer = await get(`${on.url}${list}?after=${after}`)
      expect([list, after, answer.status, answer.body.code]).toEqual([list, after, 400, 'INVALID_INPUT'])
    }
})
