import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLandfallError } from '../../src/facts/errors.ts'
import type { ModelChunk, ModelMessage, ModelRequest } from '../../src/facts/ports.ts'
import { loadScript, type Script } from '../../src/models/script.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { manualTime } from './manual-time.ts'

const user = (content: string): ModelMessage => ({ role: 'user', content })
const assistant = (content: string): ModelMessage => ({ role: 'assistant', content })
const tool = (content: string): ModelMessage => ({ role: 'tool', content, toolCallId: 'c' })

function asked(change: Partial<ModelRequest> = {}): ModelRequest {
  const rest = { maxOutput: 100, settings: {}, purpose: 'turn' as const, turn: 0, step: 0 }
  return { system: '', messages: [user('hello')], tools: [], ...rest, ...change }
}

async function chunksOf(script: Script, request = asked(), attempt = 1): Promise<ModelChunk[]> {
  const chunks: ModelChunk[] = []
  for await (const chunk of scriptedModel(script).request(request, { signal: new AbortController().signal, attempt }))
    chunks.push(chunk)
  return chunks
}

async function textOf(script: Script, request = asked(), attempt = 1): Promise<string> {
  const chunks = await chunksOf(script, request, attempt)
  return chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('')
}

describe('the choice of a step', () => {
  const script: Script = {
    turns: [[{ text: 'a0' }, { text: 'a1' }], [{ text: 'b0' }]],
    everyTurn: [{ text: 'every0' }],
    background: [{ text: 'job0' }, { text: 'job1' }],
    summary: { text: 'in short' },
    otherwise: { text: 'else' },
  }

  it.each([
    [{ turn: 0, step: 0 }, 'a0'],
    [{ turn: 0, step: 1 }, 'a1'],
    [{ turn: 0, step: 2 }, 'else'],
    [{ turn: 1, step: 0 }, 'b0'],
    [{ turn: 2, step: 0 }, 'every0'],
    [{ turn: 9, step: 1 }, 'else'],
    [{ turn: -1, step: 1 }, 'job1'],
    [{ turn: -1, step: 2 }, 'else'],
    [{ purpose: 'summary' as const }, 'in short'],
  ])('%o gives %s', async (change, text) => {
    expect(await textOf(script, asked(change))).toBe(text)
  })

  it('an empty script says that it has nothing', async () => {
    expect(await textOf({})).toBe('I have nothing scripted for this.')
  })

  it('is the same for a new instance: nothing is counted', async () => {
    const model = scriptedModel(script)
    const once = asked({ step: 1 })
    for (let round = 0; round < 2; round++) {
      const first = await model
        .request(once, { signal: new AbortController().signal, attempt: 1 })
        [Symbol.asyncIterator]()
        .next()
      expect(first.value).toEqual({ type: 'text', text: 'a1' })
    }
    expect(await textOf(script, once)).toBe('a1')
  })
})

describe('an answer', () => {
  it('has its chunks, calls and usage, and a finish that fits', async () => {
    const step = {
      chunks: ['It ', 'is.'],
      calls: [{ name: 'fs.list', arguments: { path: '.' } }],
      usage: { input: 12, output: 3 },
    }
    expect(await chunksOf({ turns: [[step]] })).toEqual([
      { type: 'text', text: 'It ' },
      { type: 'text', text: 'is.' },
      { type: 'call', name: 'fs.list', arguments: { path: '.' } },
      { type: 'finish', reason: 'calls', usage: { input: 12, output: 3 } },
    ])
    expect((await chunksOf({})).at(-1)).toEqual({ type: 'finish', reason: 'stop' })
    expect((await chunksOf({ otherwise: { text: 'x', finish: 'length' } })).at(-1)).toEqual({
      type: 'finish',
      reason: 'length',
    })
  })

  it('fails for the attempts that the script counts, then gives the rest of the step', async () => {
    const script: Script = {
      turns: [[{ error: { code: 'BUSY', retryable: true, retryAfterMs: 5 }, times: 2, text: 'at last' }]],
    }
    const failure = { name: 'ModelError', code: 'BUSY', retryable: true, retryAfterMs: 5 }
    await expect(textOf(script, asked(), 1)).rejects.toMatchObject(failure)
    await expect(textOf(script, asked(), 2)).rejects.toMatchObject(failure)
    expect(await textOf(script, asked(), 3)).toBe('at last')
    const always: Script = { turns: [[{ error: { code: 'NO' } }]] }
    await expect(textOf(always, asked(), 99)).rejects.toMatchObject({ code: 'NO', retryable: false })
  })

  it('breaks off in garbage', async () => {
    expect(await chunksOf({ turns: [[{ garbage: '{"path": "a' }]] })).toEqual([
      { type: 'call', name: 'garbage', arguments: '{"path": "a' },
    ])
  })
})

describe('templates', () => {
  const echo: Script = {
    otherwise: {
      text: '{{input}}|{{last}}|{{steering}}|{{turn}}|{{count:messages}}|{{other}}',
      calls: [{ name: 'x', arguments: { deep: [{ text: '<{{input}}>' }], '{{input}}': 1 } }],
    },
  }

  it('are filled from the request, deep in arguments too', async () => {
    const messages = [user('one'), assistant('call'), tool('r1'), tool('r2'), user('steer a'), user('steer b')]
    const chunks = await chunksOf(echo, asked({ turn: 3, step: 1, messages }))
    expect(chunks[0]).toEqual({ type: 'text', text: 'one|r2|steer a\nsteer b|3|6|{{other}}' })
    expect(chunks[1]).toMatchObject({ arguments: { deep: [{ text: '<one>' }], '{{input}}': 1 } })
  })

  it('know the input of this task from that of earlier ones', async () => {
    const earlier = [user('old'), assistant('done')]
    expect(await textOf(echo, asked({ messages: [...earlier, user('new')] }))).toContain('new|||')
    const steered = [...earlier, user('new'), assistant('a'), tool('t'), user('more'), assistant('b'), tool('u')]
    expect(await textOf(echo, asked({ step: 2, messages: steered }))).toContain('new|u|more|')
    const unanswered = [user('cancelled'), user('new'), user('inherited')]
    expect(await textOf(echo, asked({ messages: unanswered, inputAt: 1 }))).toContain('new||inherited|')
  })

  it('do not read what they put in, and do not fail without messages', async () => {
    expect(await textOf(echo, asked({ messages: [user('{{turn}}')] }))).toContain('{{turn}}|')
    expect(await textOf(echo, asked({ messages: [] }))).toBe('||||0|0|{{other}}'.replace('||||0', '|||0'))
    expect(await textOf(echo, asked({ step: 5, messages: [user('kept'), assistant('a')] }))).toContain('kept|')
  })
})

describe('time and abort', () => {
  function started(script: Script) {
    const time = manualTime()
    const controller = new AbortController()
    const model = scriptedModel(script, { clock: time, scheduler: time })
    const stream = model.request(asked(), { signal: controller.signal, attempt: 1 })[Symbol.asyncIterator]()
    return { time, controller, stream }
  }

  it('a delay passes before each chunk, on the clock that was given', async () => {
    const { time, stream } = started({ turns: [[{ delayMs: 20, chunks: ['a', 'b'] }]] })
    const seen: string[] = []
    const read = async () => {
      for (;;) {
        const { value, done } = await stream.next()
        if (done) return
        seen.push(`${value.type === 'text' ? value.text : value.type}@${time.now()}`)
      }
    }
    const reading = read()
    await time.advance(19)
    expect(seen).toEqual([])
    await time.advance(100)
    await reading
    expect(seen).toEqual(['a@1020', 'b@1040', 'finish@1040'])
  })

  it('an abort ends a delay and a hang with the reason, and leaves no timer', async () => {
    for (const step of [{ delayMs: 1_000, text: 'late' }, { hang: true as const }]) {
      const { time, controller, stream } = started({ turns: [[step]] })
      const next = stream.next()
      await time.advance(1)
      controller.abort('enough')
      await expect(next).rejects.toBe('enough')
      expect(time.pending()).toBe(0)
    }
  })

  it('a deaf hang goes on', async () => {
    const { time, controller, stream } = started({ turns: [[{ text: 'a', hang: 'deaf' }]] })
    expect((await stream.next()).value).toEqual({ type: 'text', text: 'a' })
    let settled = false
    stream.next().then(
      () => (settled = true),
      () => (settled = true),
    )
    controller.abort('enough')
    await time.advance(10_000)
    expect(settled).toBe(false)
  })
})

describe('a script', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'landfall-script-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }

  it.each([
    ['an unknown field', { turn: [] }],
    ['a step with an unknown field', { turns: [[{ txt: 'x' }]] }],
    ['text and chunks together', { turns: [[{ text: 'x', chunks: ['x'] }]] }],
    ['times without an error', { turns: [[{ text: 'x', times: 2 }]] }],
    ['a negative delay', { otherwise: { delayMs: -1 } }],
    ['a call without a name', { otherwise: { calls: [{ arguments: {} }] } }],
    ['no object', 'script'],
  ])('is refused for %s', async (name, script) => {
    const error = await loadScript(file(`${name}.json`, JSON.stringify(script))).catch((reason: unknown) => reason)
    expect(isLandfallError(error, 'INVALID_INPUT')).toBe(true)
  })

  it('is read from a file, and a file that is none is refused', async () => {
    const script = await loadScript(file('good.json', '{"name": "demo", "otherwise": {"text": "hi"}}'))
    expect(scriptedModel(script).name).toBe('demo')
    await expect(loadScript(file('bad.json', '{'))).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(loadScript(join(folder, 'nowhere.json'))).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})
