import { describe, expect, it } from 'vitest'
import { FairLoop } from '../../src/facts/fair-loop.ts'
import { type Model, type ModelChunk, ModelError, type ModelRequest } from '../../src/facts/ports.ts'
import { readStream } from '../../src/models/read-stream.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { countedLoop } from '../facts/counted-loop.ts'
import { countingIds, manualTime } from './manual-time.ts'

const request: ModelRequest = {
  system: '',
  messages: [],
  tools: [],
  maxOutput: 10,
  settings: {},
  purpose: 'turn',
  turn: 0,
  step: 0,
}

/** A model that gives whatever the test says, also what the types forbid. */
function saying(...chunks: readonly unknown[]): Model {
  return {
    name: 'said',
    async *request() {
      for (const chunk of chunks) yield chunk as ModelChunk
    },
  }
}

function reading(model: Model, signal = new AbortController().signal) {
  const time = manualTime()
  const heard: [ModelChunk, number][] = []
  let received = 0
  const hooks = {
    clock: time,
    scheduler: time,
    ids: countingIds(),
    idleMs: 1_000,
    requestBytes: 41,
    onBytes: (bytes: number) => {
      received = bytes
    },
    onChunk: (chunk: ModelChunk) => heard.push([chunk, received]),
  }
  return { time, heard, received: () => received, answer: readStream(model, request, { signal, attempt: 1 }, hooks) }
}

const stop = { type: 'finish', reason: 'stop', usage: { input: 10, output: 2 } }
const call = { type: 'call', id: 'c1', name: 'fs.read', arguments: { path: 'a' } }

it('chunks of many answers that come at once are taken over several turns of the event loop', async () => {
  const time = manualTime()
  let now = 0
  const { scheduler, turn } = countedLoop()
  const fair = new FairLoop({ now: () => now }, scheduler)
  const taken: number[] = []
  const onChunk = () => {
    // As long as redaction and telling everybody may take.
    now += 3
    taken.push(turn())
  }
  const answers = Array.from({ length: 12 }, () => {
    const { signal } = new AbortController()
    const hooks = { clock: time, scheduler: time, ids: countingIds(), idleMs: 1_000, requestBytes: 41, fair, onChunk }
    return readStream(saying({ type: 'text', text: 'a' }, stop), request, { signal, attempt: 1 }, hooks)
  })
  expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(answers.map(() => 'a'))
  for (const at of new Set(taken)) expect(taken.filter((each) => each === at).length).toBeLessThanOrEqual(2)
})

describe('arguments that come in pieces', () => {
  const pieces = [
    { type: 'arguments', text: '{"path":' },
    { type: 'arguments', text: '"a"}' },
  ]

  it('are counted once, when their call has come', async () => {
    const whole = { type: 'call', id: 'c1', name: 'fs.read', arguments: '{"path":"a"}' }
    const { answer } = reading(saying(...pieces, whole, { ...stop, reason: 'calls' }))
    expect((await answer).receivedBytes).toBe('fs.read'.length + '{"path":"a"}'.length)
  })

  it('are counted where the answer breaks before, and so is a call that is found broken', async () => {
    const cut = reading(saying(...pieces))
    await expect(cut.answer).rejects.toMatchObject({ code: 'MODEL_INVALID_RESPONSE' })
    expect(cut.received()).toBe(12)
    const broken = reading(saying({ type: 'call', name: 'fs.read', arguments: '{"pa' }))
    await expect(broken.answer).rejects.toMatchObject({ code: 'MODEL_INVALID_RESPONSE' })
    expect(broken.received()).toBe(11)
  })
})

describe('a valid stream', () => {
  it('becomes one answer', async () => {
    const { answer, time } = reading(
      saying({ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'a' }, { type: 'text', text: 'b' }, stop),
    )
    expect(await answer).toEqual({
      text: 'ab',
      calls: [],
      finish: 'stop',
      usage: { input: 10, output: 2, total: 12 },
      receivedBytes: 4,
    })
    expect(time.pending()).toBe(0)
  })

  it('has calls with ids, arguments as an object or as its complete text', async () => {
    const bare = { type: 'call', name: 'fs.list', arguments: '{"path": "."}' }
    const { answer } = reading(saying(call, bare, bare, { type: 'finish', reason: 'calls' }))
    const { calls, usage, receivedBytes } = await answer
    expect(calls).toEqual([
      { id: 'c1', name: 'fs.read', arguments: { path: 'a' } },
      { id: 'id-1', name: 'fs.list', arguments: { path: '.' } },
      { id: 'id-2', name: 'fs.list', arguments: { path: '.' } },
    ])
    expect(receivedBytes).toBe(7 + 12 + 2 * (7 + 13))
    expect(usage).toEqual({ input: 11, output: 15, total: 26, estimated: true })
  })

  it('is told chunk by chunk with the bytes so far', async () => {
    const { answer, heard } = reading(saying({ type: 'text', text: 'é' }, call, stop))
    await answer
    expect(heard.map(([chunk, bytes]) => [chunk.type, bytes])).toEqual([
      ['text', 2],
      ['call', 21],
      ['finish', 21],
    ])
  })

  it('that says stop with calls finishes for calls', async () => {
    expect((await reading(saying(call, stop)).answer).finish).toBe('calls')
  })

  it('joins a character that was split between chunks, and mends one that stays half', async () => {
    const [high, low] = ['\ud83d', '\ude00']
    expect((await reading(saying({ type: 'text', text: high }, { type: 'text', text: low }, stop)).answer).text).toBe(
      '😀',
    )
    expect((await reading(saying({ type: 'text', text: high }, stop)).answer).text).toBe('\ufffd')
  })
})

describe('a stream that breaks the rules', () => {
  it.each<[string, unknown[]]>([
    ['ends without a finish', [{ type: 'text', text: 'a' }]],
    ['is empty', []],
    ['goes on after the finish', [stop, { type: 'text', text: 'a' }]],
    ['finishes twice', [stop, stop]],
    ['finishes for an unknown reason', [{ type: 'finish', reason: 'bored' }]],
    ['finishes for calls without one', [{ type: 'finish', reason: 'calls' }]],
    ['has a chunk of an unknown type', [{ type: 'image' }, stop]],
    ['has a chunk that is no object', ['text', stop]],
    ['has text that is none', [{ type: 'text', text: 5 }, stop]],
    ['has a call without a name', [{ ...call, name: '' }, stop]],
    ['has arguments cut in the middle', [{ ...call, arguments: '{"path": "a' }, stop]],
    ['has arguments that are a list', [{ ...call, arguments: [] }, stop]],
    ['has no arguments', [{ type: 'call', name: 'x' }, stop]],
    ['has arguments that are no data', [{ ...call, arguments: { at: 1n } }, stop]],
    ['has an id that is none', [{ ...call, id: 7 }, stop]],
    ['has the same id twice', [call, call, stop]],
    ['has usage that is none', [{ ...stop, usage: 'much' }]],
  ])('one that %s', async (_name, chunks) => {
    const { answer, time } = reading(saying(...chunks))
    await expect(answer).rejects.toMatchObject({ name: 'ModelError', code: 'MODEL_INVALID_RESPONSE', retryable: false })
    expect(time.pending()).toBe(0)
  })

  it('goes on and on without holding anything; some silence between words is none', async () => {
    const empties = Array(60_000).fill({ type: 'text', text: '' })
    const word = { type: 'text', text: 'a' }
    expect(await reading(saying(...empties, word, ...empties, stop)).answer).toMatchObject({ text: 'a' })
    await expect(reading(saying(word, ...empties, ...empties, stop)).answer).rejects.toMatchObject({
      code: 'MODEL_INVALID_RESPONSE',
      reason: expect.stringContaining('says nothing'),
    })
  })

  it('says nothing of what was in it', async () => {
    const { answer } = reading(saying({ ...call, arguments: '{"password": "hunter2' }))
    await expect(answer).rejects.toThrow(/^(?!.*hunter2)/)
  })

  it('scripted garbage is one', async () => {
    await expect(reading(scriptedModel({ otherwise: { garbage: '{"a":1}' } })).answer).rejects.toMatchObject({
      code: 'MODEL_INVALID_RESPONSE',
    })
  })
})

describe('a model that throws', () => {
  it('passes on its own failure, and any other throw is an invalid answer', async () => {
    const failing = (error: unknown): Model => ({
      name: 'failing',
      request: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }),
    })
    const limited = new ModelError({ code: 'RATE_LIMITED', retryable: true, retryAfterMs: 7 })
    await expect(reading(failing(limited)).answer).rejects.toBe(limited)
    await expect(reading(failing(new Error('secret'))).answer).rejects.toMatchObject({ code: 'MODEL_INVALID_RESPONSE' })
    const sync: Model = {
      name: 'sync',
      request() {
        throw new Error('at once')
      },
    }
    await expect(reading(sync).answer).rejects.toMatchObject({ code: 'MODEL_INVALID_RESPONSE' })
  })
})

describe('deadline and abort', () => {
  it('silence before the first chunk, or between chunks, is a retryable timeout', async () => {
    for (const step of [{ hang: true as const }, { hang: 'deaf' as const }, { text: 'a', hang: 'deaf' as const }]) {
      const { answer, time } = reading(scriptedModel({ otherwise: step }))
      const failed = expect(answer).rejects.toMatchObject({ code: 'MODEL_TIMEOUT', retryable: true })
      await time.advance(1_000)
      await failed
      expect(time.pending()).toBe(0)
    }
  })

  it('does not fire while chunks keep coming', async () => {
    const time = manualTime()
    const model = scriptedModel(
      { otherwise: { delayMs: 900, chunks: ['a', 'b', 'c', 'd'] } },
      { clock: time, scheduler: time },
    )
    const hooks = { clock: time, scheduler: time, ids: countingIds(), idleMs: 1_000, requestBytes: 0 }
    const answer = readStream(model, request, { signal: new AbortController().signal, attempt: 1 }, hooks)
    await time.advance(3_600)
    expect((await answer).text).toBe('abcd')
  })

  it('an abort is passed on and answered at once, also when the model is deaf', async () => {
    let passedOn: unknown
    const deaf: Model = {
      name: 'deaf',
      request: (_request, { signal }) => {
        signal.addEventListener('abort', () => {
          passedOn = signal.reason
        })
        return { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }
      },
    }
    const controller = new AbortController()
    const { answer, time } = reading(deaf, controller.signal)
    await time.advance(5)
    controller.abort('superseded')
    await expect(answer).rejects.toBe('superseded')
    expect(passedOn).toBe('superseded')
    expect(time.pending()).toBe(0)
  })

  it('asks nothing when it was aborted before', async () => {
    let asked = false
    const model: Model = {
      name: 'x',
      request() {
        asked = true
        return saying().request(request, { signal: AbortSignal.abort(), attempt: 1 })
      },
    }
    await expect(reading(model, AbortSignal.abort('early')).answer).rejects.toBe('early')
    expect(asked).toBe(false)
  })

  it('tells the model when an invalid answer is given up', async () => {
    let closed = false
    const model: Model = {
      name: 'x',
      async *request() {
        try {
          yield { type: 'text', text: 5 } as never
          yield { type: 'text', text: 'on' }
        } finally {
          closed = true
        }
      },
    }
    const { answer, time } = reading(model)
    await expect(answer).rejects.toMatchObject({ code: 'MODEL_INVALID_RESPONSE' })
    await time.advance(0)
    expect(closed).toBe(true)
  })
})
