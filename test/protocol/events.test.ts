import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import { get, post, type Served, served } from './kit/served.ts'
import { SseClient, type SseFact } from './kit/sse-client.ts'

vi.setConfig({ testTimeout: 120_000 })

const scope = { tenant: 'local', user: 'local', session: 'one' }
const base = ({ url }: Served) => `${url}/v1/sessions/one`

async function turns(on: Served, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    const { body } = await post(`${base(on)}/tasks`, { action: 'follow_up', input: `turn ${turn}` })
    await on.runtime.session(scope).task(body.task).outcome()
  }
}

const withoutResume = ({ resume: _resume, ...fact }: SseFact) => fact

it('a client that is cut at random a hundred times, and comes back with its last id, has exactly the log', async () => {
  const on = await served()
  const wanted = fc.sample(fc.nat({ max: 12 }), { numRuns: 100, seed: 20_261_130 })
  let reading = true
  const working = (async () => {
    while (reading) await turns(on, 1)
  })()
  const got: SseFact[] = []
  let lastId: string | null = null
  // 0 is before the first event, also twice in a row and before there is an answer.
  for (const [cut, count] of [0, 0, ...wanted.slice(2)].entries()) {
    const client: SseClient = new SseClient(`${base(on)}/events`, { lastId })
    if (count === 0 && cut % 2 === 1) client.cut()
    else await client.until(({ facts, status }) => status === 200 && facts.length >= count)
    client.cut()
    await client.done
    got.push(...client.facts)
    lastId = client.lastId
  }
  reading = false
  await working
  const log = await on.runtime.session(scope).log()
  const last = new SseClient(`${base(on)}/events`, { lastId })
  await last.until(({ facts }) => got.length + facts.length >= log.length)
  got.push(...last.facts)
  expect(wanted).toHaveLength(100)
  expect(got.map(withoutResume)).toEqual(log)
})

it('each frame has its position and type; deltas ride without one, and stay away when asked', async () => {
  const on = await served({
    script: { name: 'words', everyTurn: [{ chunks: ['one ', 'two ', 'three'], delayMs: 50 }] },
  })
  const all = new SseClient(`${base(on)}/events`)
  const facts = new SseClient(`${base(on)}/events?ephemeral=false`)
  await all.until(({ frames }) => frames.length > 0)
  await turns(on, 1)
  const ended = ({ events }: SseClient) => events.some(({ type }) => type === 'task.completed')
  await Promise.all([all.until(ended), facts.until(ended)])
  for (const { id, event, data } of all.frames) {
    if (data === undefined) continue
    const told = JSON.parse(data)
    expect(event).toBe(told.type)
    expect(id).toBe(told.resume)
  }
  const deltas = all.events.filter(({ type }) => type === 'model.delta')
  expect(deltas.map(({ text }) => text).join('')).toBe('one two three')
  expect(facts.events.every((event) => 'seq' in event)).toBe(true)
  expect(all.frames[0]).toEqual({ retry: '2000' })
  const headers = (await fetch(`${base(on)}/events`, { method: 'HEAD' })).headers
  expect(headers.get('content-type')).toBe('text/event-stream')
})

it('after=now tells its position at once, so that a client which is cut before the first event misses nothing', async () => {
  const on = await served()
  await turns(on, 1)
  const before = (await on.runtime.session(scope).log()).length
  const first = new SseClient(`${base(on)}/events?after=now`)
  await first.until(({ lastId }) => lastId !== null)
  first.cut()
  await turns(on, 1)
  const second = new SseClient(`${base(on)}/events?after=now`, { lastId: first.lastId })
  second.cut()
  const third = new SseClient(`${base(on)}/events?after=now`, { lastId: second.lastId })
  const log = await on.runtime.session(scope).log()
  await third.until(({ facts }) => facts.length === log.length - before)
  expect(third.facts.map(withoutResume)).toEqual(log.slice(before))
})

it('an empty Last-Event-ID is none, so the position of the address counts', async () => {
  const on = await served()
  await turns(on, 1)
  const after = await on.runtime.reads.position()
  const client = new SseClient(`${base(on)}/events?after=${after}`, { lastId: '' })
  await turns(on, 1)
  await client.until(({ facts }) => facts.some(({ type }) => type === 'task.completed'))
  expect(client.facts[0]?.cursor).toBeGreaterThan(Number(after.split('-')[1]))
})

it('filters by type and task, for replay and live alike, and gives the terminal of any task again', async () => {
  const on = await served()
  await turns(on, 2)
  const done = new SseClient(`${base(on)}/events?type=task.completed,task.failed`)
  await done.until(({ facts }) => facts.length === 2)
  await turns(on, 1)
  await done.until(({ facts }) => facts.length === 3)
  expect(done.facts.every(({ type }) => type === 'task.completed')).toBe(true)
  const task = String(done.facts[1]?.task)
  const one = new SseClient(`${base(on)}/events?task=${task}&type=task.created&type=task.completed`)
  await one.until(({ facts }) => facts.length === 2)
  expect(one.facts.map((fact) => [fact.type, fact.task])).toEqual([
    ['task.created', task],
    ['task.completed', task],
  ])
})

it('refuses a position that is none of this store, before there is a stream', async () => {
  const on = await served()
  const other = await served()
  await turns(on, 1)
  await turns(other, 3)
  const [epoch] = (await on.runtime.reads.position()).split('-')
  for (const after of [
    'x',
    '12',
    `${epoch}-`,
    `${epoch}-99999`,
    `${epoch}-1e3`,
    `${epoch}--1`,
    await other.runtime.reads.position(),
  ]) {
    const expected = { status: 400, body: { code: 'CURSOR_INVALID' } }
    expect(await get(`${base(on)}/events?after=${after}`), after).toMatchObject(expected)
    expect(await get(`${base(on)}/events`, { 'last-event-id': after }), after).toMatchObject(expected)
  }
  for (const types of ['type=no.such', 'type=', 'type=,', 'type=task.completed&type='])
    expect(await get(`${base(on)}/events?${types}`)).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
})

it('says so when the facts after a position are not kept any more', async () => {
  const on = await served()
  await turns(on, 1)
  Object.assign(on.log, { retainedAfter: async () => 4 })
  const [epoch] = (await on.runtime.reads.position()).split('-')
  expect(await get(`${base(on)}/events?after=${epoch}-2`)).toMatchObject({
    status: 410,
    body: { code: 'CURSOR_TOO_OLD' },
  })
})

it('a session has sixteen subscribers, and a place is free again when one has gone', async () => {
  const on = await served()
  const clients = Array.from({ length: 16 }, () => new SseClient(`${base(on)}/events`))
  await Promise.all(clients.map((client) => client.until(({ frames }) => frames.length > 0)))
  const late = await get(`${base(on)}/events`)
  expect(late).toMatchObject({
    status: 429,
    body: { code: 'LIMIT_EXCEEDED', details: { which: 'httpSubscribersPerSession', bound: 16, got: 17 } },
  })
  expect(late.headers.get('retry-after')).toBe('1')
  const other = new SseClient(`${on.url}/v1/sessions/two/events`)
  await other.until(({ frames }) => frames.length > 0)
  clients[0]?.cut()
  for (;;) {
    const again = new SseClient(`${base(on)}/events`)
    await again.until(({ status, ended }) => ended || status !== 0, 'an answer').catch(() => {})
    if (again.status === 200) break
  }
})

it('streams that were asked for behind another on one connection go with it', async () => {
  const on = await served()
  const { pathname, port } = new URL(`${base(on)}/events`)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  const asked = `GET ${pathname} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
  await new Promise<void>((resolve) => {
    socket.on('data', () => resolve())
    socket.write(asked.repeat(16))
  })
  const answered = async () => {
    const { status, body } = await fetch(`${base(on)}/events`)
    await body?.cancel()
    return status
  }
  // Nobody reads the others, but each has its place.
  while ((await answered()) !== 429);
  socket.resetAndDestroy()
  const free = async () => {
    const all = await Promise.all(Array.from({ length: 16 }, () => fetch(`${base(on)}/events`)))
    await Promise.all(all.map(({ body }) => body?.cancel()))
    return all.filter(({ status }) => status === 200).length
  }
  while ((await free()) < 16) await answered()
})

it('says that it is still there while nothing happens', async () => {
  const on = await served({ limits: { sseKeepAliveMs: 20 } })
  const client = new SseClient(`${base(on)}/events`)
  await client.until(({ frames }) => frames.filter(({ comment }) => comment === 'still here').length >= 3)
  await turns(on, 1)
  await client.until(({ facts }) => facts.some(({ type }) => type === 'task.completed'))
})

it('who never reads holds nothing up and costs a bounded buffer; who reads again is told what was lost, and gets it', async () => {
  const long = { chunks: Array.from({ length: 64 }, () => 'so many words '.repeat(4_096)) }
  const script = { name: 'long', turns: Array.from({ length: 5 }, () => [long]), everyTurn: [{ text: 'ok' }] }
  const on = await served({ script, limits: { subscriberBufferEvents: 64 } })
  const socket = await deaf(on)
  const quick = new SseClient(`${base(on)}/events?type=task.completed`)
  await quick.until(({ frames }) => frames.length > 0)
  // More than a socket takes: the rest would have to wait in memory.
  await turns(on, 5)
  await turns(on, 20)
  const log = await on.runtime.session(scope).log()
  await quick.until(({ facts }) => facts.length === 25)
  let text = ''
  let heard = 0
  socket.on('data', (part: Buffer) => {
    heard += part.length
    text = (text + part.toString()).slice(-1_000_000)
  })
  socket.resume()
  while (!text.includes(`"seq":${log.length},`)) await new Promise((resolve) => socket.once('data', resolve))
  const dropped = JSON.parse(/^event: bus\.dropped\ndata: (.*)$/m.exec(text)?.[1] ?? 'null')
  expect(dropped).toMatchObject({ type: 'bus.dropped', count: expect.any(Number), resume: expect.any(String) })
  expect(text).toContain(`id: ${dropped.resume}\nevent: bus.dropped\n`)
  // What was said in five turns is several times what waited for the client.
  expect(heard).toBeLessThan(5 * 64 * 4_096 * 14)
  const again = new SseClient(`${base(on)}/events`, { lastId: dropped.resume })
  const missed = log.filter(({ cursor }) => cursor >= dropped.from)
  await again.until(({ facts }) => facts.length === missed.length)
  expect(again.facts.map(withoutResume)).toEqual(missed)
})

/** A subscriber whose socket is not read. */
async function deaf(on: Served): Promise<Socket> {
  const { port } = new URL(on.url)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  onTestFinished(() => {
    socket.destroy()
  })
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.pause()
  socket.write(`GET /v1/sessions/one/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
  return socket
}
