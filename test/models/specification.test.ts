import { describe, expect, it } from 'vitest'
import { isLandfallError } from '../../src/facts/errors.ts'
import { aiSdkModel } from '../../src/models/ai-sdk/ai-sdk-model.ts'
import type { LanguageModelLike } from '../../src/models/ai-sdk/language-model.ts'
import { ask } from './wire/ask.ts'

/** A language model of any specification that gives these parts and keeps what it was asked. */
function fakeModel(specificationVersion: string, parts: readonly object[]) {
  const asked: Record<string, unknown>[] = []
  const model: LanguageModelLike = {
    specificationVersion,
    provider: 'somebody',
    modelId: 'm',
    doStream: async (options: never) => {
      asked.push(options)
      const stream = new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      })
      return { stream }
    },
  }
  return { model, asked }
}

const called = { type: 'tool-call', toolCallId: '1', toolName: 'fs_list', input: '{"path":"."}' }
const usageV2 = { inputTokens: 3, outputTokens: 4, totalTokens: 7 }
const usageV3 = { inputTokens: { total: 3 }, outputTokens: { total: 4 } }

describe('a language model', () => {
  it('of the specification before this one is understood', async () => {
    const { model, asked } = fakeModel('v2', [
      { type: 'stream-start', warnings: [] },
      { type: 'text-delta', id: 't', delta: 'Looking.' },
      { type: 'reasoning-delta', id: 'r', delta: 'hm' },
      called,
      { type: 'finish', finishReason: 'tool-calls', usage: usageV2 },
    ])
    const answer = await ask(aiSdkModel(model))
    expect(answer).toMatchObject({ text: 'Looking.', finish: 'calls', usage: { input: 3, output: 4, total: 7 } })
    expect(answer.calls).toMatchObject([{ name: 'fs.list', arguments: { path: '.' } }])
    expect(asked[0]).toMatchObject({ maxOutputTokens: 100, tools: [{ type: 'function', name: 'fs_list' }] })
    expect(asked[0]?.prompt).toMatchObject([{ role: 'system' }, { role: 'user', content: [{ type: 'text' }] }])
  })

  it('of another specification is refused when it is given, with what it says it is', () => {
    for (const model of [fakeModel('v1', []).model, fakeModel('v5', []).model, {}, null, 'openai/gpt']) {
      let refused: unknown
      try {
        aiSdkModel(model as LanguageModelLike)
      } catch (error) {
        refused = error
      }
      expect(isLandfallError(refused, 'MODEL_SPECIFICATION_UNSUPPORTED')).toBe(true)
      expect(refused).toMatchObject({ details: { understood: ['v4', 'v3', 'v2'] } })
    }
  })

  const finishes: readonly (readonly [version: string, said: unknown, settled: string])[] = [
    ['v3', { unified: 'stop', raw: 'end' }, 'stop'],
    ['v3', { unified: 'other', raw: 'pause_turn' }, 'other'],
    ['v3', { unified: 'other', raw: undefined }, 'MODEL_INVALID_RESPONSE'],
    ['v3', { unified: 'tired', raw: 'tired' }, 'MODEL_INVALID_RESPONSE'],
    ['v3', { unified: 'error', raw: 'error' }, 'MODEL_FAILED'],
    ['v2', 'content-filter', 'filter'],
    ['v2', 'unknown', 'MODEL_INVALID_RESPONSE'],
    ['v2', undefined, 'MODEL_INVALID_RESPONSE'],
  ]
  it.each(finishes)('%s that finishes with %j has finished with %s', async (version, finishReason, settled) => {
    const usage = version === 'v3' ? usageV3 : usageV2
    const { model } = fakeModel(version, [{ type: 'finish', finishReason, usage }])
    const found = await ask(aiSdkModel(model)).then(
      ({ finish }) => finish,
      (error: { code: string }) => error.code,
    )
    expect(found).toBe(settled)
  })

  const strange: readonly object[] = [
    { ...called, providerExecuted: true },
    { ...called, input: '[1]' },
    { ...called, toolName: 7 },
    { type: 'tool-result', toolCallId: '1', toolName: 'fs_list', result: 'x' },
    { type: 'tool-approval-request', approvalId: 'a', toolCallId: '1' },
    { type: 'file', mediaType: 'image/png', data: 'x' },
    { type: 'text-delta', id: 't', delta: null },
    { type: 'hologram' },
  ]
  it.each(strange)('is not believed when it gives $type as %j', async (part) => {
    const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: usageV3 }
    const { model } = fakeModel('v3', [part, finish])
    await expect(ask(aiSdkModel(model))).rejects.toMatchObject({ code: 'MODEL_INVALID_RESPONSE' })
  })

  it.each([
    null,
    7,
    'fast',
    [],
    { nmae: 'm' },
    { name: '' },
    { name: 5 },
    { toolNames: null },
    { toolNames: { characters: 'abc' } },
    { toolNames: { characters: '', maxChars: 64 } },
    { toolNames: { characters: 'ab', maxChars: 0 } },
    { headers: null },
    { headers: { key: 5 } },
    { headers: { key: 'two\nlines' } },
    { clock: {} },
  ])('is refused with options that no request could be made with: %j', (options) => {
    let refused: unknown
    try {
      aiSdkModel(fakeModel('v3', []).model, options as never)
    } catch (error) {
      refused = error
    }
    expect(isLandfallError(refused, 'INVALID_INPUT')).toBe(true)
    expect((refused as Error).message).toMatch(/^The model is refused: \w.* (must|is not known)/)
  })

  it('is refused when it has no name', () => {
    const { model } = fakeModel('v3', [])
    for (const nameless of [
      { ...model, provider: undefined },
      { ...model, modelId: 7 },
    ])
      expect(() => aiSdkModel(nameless as never)).toThrow(
        expect.objectContaining({ code: 'MODEL_SPECIFICATION_UNSUPPORTED' }),
      )
  })

  it('is given the settings that it knows, and no others', async () => {
    const stop = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: usageV3 }
    const { model, asked } = fakeModel('v3', [stop])
    const settings = { maxOutput: 100, temperature: 0.2, stopSequences: ['END'], providerOptions: { x: { y: 1 } } }
    await ask(aiSdkModel(model), { settings })
    expect(asked[0]).toMatchObject({ temperature: 0.2, stopSequences: ['END'], providerOptions: { x: { y: 1 } } })
    for (const wrong of [{ temprature: 1 }, { temperature: 'hot' }, { stopSequences: 'END' }, { toString: 1 }])
      await expect(ask(aiSdkModel(model), { settings: wrong })).rejects.toMatchObject({
        code: 'MODEL_SETTING_INVALID',
        reason: expect.stringContaining(`'${Object.keys(wrong)[0]}'`),
      })
    expect(asked).toHaveLength(1)
  })

  it('asks again later when it says in the stream that it is overloaded', async () => {
    const errors: readonly (readonly [object, boolean])[] = [
      [{ type: 'overloaded_error', message: 'busy' }, true],
      [{ code: 'rate_limit_exceeded', message: 'busy' }, true],
      [{ statusCode: 400, isRetryable: false, message: 'no' }, false],
      [{ type: 'invalid_request_error', message: 'no' }, false],
      [new Error('what is that'), false],
    ]
    for (const [error, retryable] of errors) {
      const { model } = fakeModel('v3', [
        { type: 'text-delta', id: 't', delta: 'half' },
        { type: 'error', error },
      ])
      await expect(ask(aiSdkModel(model))).rejects.toMatchObject({ code: 'MODEL_FAILED', retryable })
    }
  })
})
