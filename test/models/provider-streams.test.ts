import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../src/facts/ports.ts'
import { aiSdkModel } from '../../src/models/ai-sdk/ai-sdk-model.ts'
import { ask } from './wire/ask.ts'
import { cutAfter, hangingAfter, inPieces, refusing, repeating, serving, streamed } from './wire/provider-server.ts'
import { wires } from './wire/wires.ts'

const listing = { name: 'fs_list', pieces: ['{"pa', 'th"', ':"', 'ä/日本"', '}'] }
const talk = ['Grüße ', 'aus 日本 ', '👩‍🚀', '.']

describe.each(wires)('$name', (wire) => {
  const modelAt = (url: string) => aiSdkModel(wire.model(url))

  it('gives text as it comes, with what was used', async () => {
    const server = await serving(streamed(wire.body({ text: talk })))
    const answer = await ask(modelAt(server.url))
    expect(answer).toMatchObject({ text: talk.join(''), finish: 'stop', calls: [] })
    expect(answer.usage).toEqual({ input: 10, output: 5, total: 15 })
    expect(answer.chunks.filter(({ type }) => type === 'text').length).toBeGreaterThan(1)
  })

  it('is read byte by byte, also where a character is cut in two', async () => {
    const body = wire.body({ text: talk, calls: [listing] })
    for (const size of [1, 7]) {
      const server = await serving(inPieces(body, size))
      const answer = await ask(modelAt(server.url))
      expect(answer.text).toBe(talk.join(''))
      expect(answer.calls).toMatchObject([{ name: 'fs.list', arguments: { path: 'ä/日本' } }])
      expect(answer.finish).toBe('calls')
    }
  })

  it('gives a call whole, however many pieces its arguments come in', async () => {
    const pieces = [...JSON.stringify({ path: 'x'.repeat(500) })]
    const server = await serving(streamed(wire.body({ calls: [{ name: 'fs_list', pieces }, listing] })))
    const answer = await ask(modelAt(server.url))
    expect(answer.calls.map((call) => call.arguments)).toEqual([{ path: 'x'.repeat(500) }, { path: 'ä/日本' }])
    expect(answer.receivedBytes).toBe(2 * 'fs.list'.length + Buffer.byteLength([...pieces, ...listing.pieces].join('')))
  })

  it('takes a call without arguments', async () => {
    const server = await serving(streamed(wire.body({ calls: [{ name: 'fs_list', pieces: [] }] })))
    expect((await ask(modelAt(server.url))).calls).toMatchObject([{ name: 'fs.list', arguments: {} }])
  })

  it('sends the names that the provider takes, also for earlier calls, and leaves the request as it was', async () => {
    const server = await serving(streamed(wire.body({ text: ['ok'] })))
    const earlier = ['fs.list', 'gone.tool'].map((name, at) => ({ id: `c${at}`, name, arguments: { at } }))
    const messages: ModelRequest['messages'] = [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: '', toolCalls: earlier },
      ...earlier.map(({ id }) => ({ role: 'tool' as const, content: 'nothing', toolCallId: id })),
      { role: 'system', content: 'Be careful.' },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'Again.' },
    ]
    const before = structuredClone(messages)
    await ask(modelAt(server.url), { messages })
    expect(messages).toEqual(before)
    const { body } = server.received[0] ?? { body: {} }
    expect(wire.toolNames(body)).toEqual(['fs_list'])
    expect(wire.calledNames(body)).toEqual(['fs_list', 'gone_tool'])
    const text = JSON.stringify(body)
    for (const said of ['Be brief.', 'Look.', 'nothing', 'Be careful.', 'Again.']) expect(text).toContain(said)
  })

  it.each(['length', 'filter'] as const)('says %s when the provider cut the answer', async (finish) => {
    const server = await serving(streamed(wire.body({ text: ['half'], finish: wire.finishes[finish] })))
    expect(await ask(modelAt(server.url))).toMatchObject({ text: 'half', finish })
  })

  it('says length when the bound came in the middle of arguments', async () => {
    const cut = { name: 'fs_list', pieces: ['{"path":"a'] }
    const body = wire.body({ text: ['I look'], calls: [cut], finish: wire.finishes.length })
    const answer = await ask(modelAt((await serving(streamed(body))).url))
    expect(answer).toMatchObject({ text: 'I look', finish: 'length', calls: [] })
  })

  it('is not believed when it names a tool that was not offered', async () => {
    for (const name of ['fs_write', 'fs.list', 'parrot']) {
      const server = await serving(streamed(wire.body({ calls: [{ name, pieces: ['{}'] }] })))
      await expect(ask(modelAt(server.url))).rejects.toMatchObject({ code: 'MODEL_INVALID_RESPONSE', retryable: false })
    }
  })

  it('is not believed when the stream ends before its finish', async () => {
    const bodies = [
      cutAfter(wire.body({ text: talk }), 0.5, 'end'),
      cutAfter('', 0, 'end'),
      streamed(wire.body({ text: ['no reason'], finish: null })),
      streamed(wire.body({ calls: [{ name: 'fs_list', pieces: ['{"path":'] }] })),
    ]
    for (const reply of bodies) {
      const server = await serving(reply)
      await expect(ask(modelAt(server.url))).rejects.toMatchObject({ code: 'MODEL_INVALID_RESPONSE' })
    }
  })

  it('is not believed when it is garbage', async () => {
    for (const body of ['<html>busy</html>', 'data: {"half": \n\n', 'data: 7\n\n', '\u0000\uffff']) {
      const server = await serving(streamed(body))
      await expect(ask(modelAt(server.url))).rejects.toMatchObject({ code: 'MODEL_INVALID_RESPONSE' })
    }
  })

  it('may be asked again when the connection broke', async () => {
    for (const share of [0, 0.6]) {
      const server = await serving(cutAfter(wire.body({ text: talk }), share, 'reset'))
      await expect(ask(modelAt(server.url))).rejects.toMatchObject({ code: 'MODEL_FAILED', retryable: true })
    }
    const gone = aiSdkModel(wire.model('http://127.0.0.1:1/v1'))
    await expect(ask(gone)).rejects.toMatchObject({ code: 'MODEL_FAILED', retryable: true })
  })

  it('may be asked again when the provider says so, and as late as it says', async () => {
    const waits = [
      [{ 'retry-after': '7' }, 7_000],
      [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1_500],
      [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:05 GMT' }, 0],
      [{ 'retry-after': 'soon' }, undefined],
      [{}, undefined],
    ] as const
    for (const [headers, retryAfterMs] of waits) {
      const server = await serving(refusing(429, headers))
      const failure = await ask(modelAt(server.url)).catch((error: unknown) => error)
      expect(failure).toMatchObject({ code: 'MODEL_FAILED', retryable: true, reason: expect.stringContaining('429') })
      expect((failure as { retryAfterMs?: number }).retryAfterMs).toBe(retryAfterMs)
    }
    for (const [status, retryable] of [
      [500, true],
      [503, true],
      [400, false],
      [401, false],
      [404, false],
    ] as const) {
      const server = await serving(refusing(status))
      await expect(ask(modelAt(server.url))).rejects.toMatchObject({ code: 'MODEL_FAILED', retryable })
      expect(server.received).toHaveLength(1)
    }
  })

  it('tells nothing of what a failing provider wrote', async () => {
    const body = JSON.stringify({ error: { message: 'your prompt was: What is here? key sk-123456', type: 'x' } })
    const server = await serving(refusing(400, {}, body))
    const failure = await ask(modelAt(server.url)).catch((error: unknown) => error)
    expect(JSON.stringify([failure, String(failure), (failure as Error).stack])).not.toMatch(/prompt|sk-123456/)
    expect((failure as Error).cause).toBeUndefined()
  })

  it('is cut when it never goes on, and the provider hears of it', async () => {
    const server = await serving(hangingAfter(wire.body({ text: talk }), 0.6))
    await expect(ask(modelAt(server.url), { idleMs: 150 })).rejects.toMatchObject({ code: 'MODEL_TIMEOUT' })
    await expect.poll(() => server.closed.length).toBe(1)
  })

  it('is cut when it never ends, whether it says something or nothing', async () => {
    const whole = wire.body({ text: ['first', 'x'.repeat(65_536)] })
    const at = whole.lastIndexOf('\n\n', whole.indexOf('xxx')) + 2
    const piece = whole.slice(at, whole.indexOf('\n\n', at) + 2)
    const talking = await serving(repeating(whole.slice(0, at), piece))
    await expect(ask(modelAt(talking.url))).rejects.toMatchObject({
      code: 'MODEL_INVALID_RESPONSE',
      reason: expect.stringContaining('larger than'),
    })
    const silent = await serving(repeating(whole.slice(0, at), ': still there\n\n'))
    await expect(ask(modelAt(silent.url), { idleMs: 100 })).rejects.toMatchObject({ code: 'MODEL_TIMEOUT' })
    await expect.poll(() => [talking.closed.length, silent.closed.length]).toEqual([1, 1])
  })

  it('is let go when the caller aborts', async () => {
    const server = await serving(hangingAfter('', 0))
    const controller = new AbortController()
    const asked = ask(modelAt(server.url), { signal: controller.signal })
    await expect.poll(() => server.received.length).toBe(1)
    controller.abort(new Error('enough'))
    await expect(asked).rejects.toThrow('enough')
    await expect.poll(() => server.closed.length).toBe(1)
  })

  it('is charged by an estimate when it does not say what was used', async () => {
    const server = await serving(streamed(wire.body({ text: ['12345678'], usage: null })))
    const settled = await ask(modelAt(server.url)).then(
      ({ usage }) => usage,
      (error: { code: string }) => error.code,
    )
    // A stream of Anthropic's that begins without usage is no stream of theirs.
    const expected =
      wire.name === 'anthropic' ? 'MODEL_INVALID_RESPONSE' : { input: 100, output: 2, total: 102, estimated: true }
    expect(settled).toEqual(expected)
  })
})
