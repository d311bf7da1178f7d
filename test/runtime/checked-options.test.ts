import { expect, it } from 'vitest'
import type { Model } from '../../src/facts/ports.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { RuntimeOptions } from '../../src/runtime/options.ts'
import { verifyStore } from '../../src/testing/verify-store.ts'

const scope = { tenant: 't', user: 'u', session: 's' }
const model = scriptedModel({ name: 'm', turns: [[{ delayMs: 200, text: 'one' }], [{ text: 'two' }]] })
const untyped = (options: object) => ({ log: memoryLog(), model, ...options }) as RuntimeOptions

const strange: Readonly<Record<string, object>> = {
  'settings.maxOutput 1.5': { settings: { maxOutput: 1.5 } },
  'settings.maxOutput 0': { settings: { maxOutput: 0 } },
  'settings.maxOutput text': { settings: { maxOutput: '9' } },
  'settings with a function': { settings: { f: () => 1 } },
  'settings NaN': { settings: { temperature: Number.NaN } },
  'settings text': { settings: 'hot' },
  'system 5': { system: 5 },
  'half a character': { system: '\ud83d' },
  'requestTimeoutMs -1': { requestTimeoutMs: -1 },
  'requestTimeoutMs text': { requestTimeoutMs: 'soon' },
  'requestTimeoutMs Infinity': { requestTimeoutMs: Number.POSITIVE_INFINITY },
  'model text': { model: 'gpt' },
  'model empty': { model: {} },
  'models null': { models: { a: null } },
  'summaryModel 5': { summaryModel: 5 },
  'policy text': { policy: 'allow' },
  'memoryPolicy text': { memoryPolicy: 'allow' },
  'redactor empty': { redactor: {} },
  'logger empty': { logger: {} },
  'clock empty': { clock: {} },
  'catalog object': { catalog: {} },
  'catalog null': { catalog: [null] },
  'catalog text': { catalog: ['tool'] },
  'catalog half a provider': { catalog: [{ kind: 'provider' }] },
  'catalog half a tool': { catalog: [{ kind: 'tool', name: 'x' }] },
  'context unknown': { context: { window: 1 } },
  'context text': { context: 'large' },
  'no reserve': { context: { reserveTokens: 0 } },
  'a threshold beyond the window': { context: { windowTokens: 1_000, thresholdTokens: 1_001 } },
  'budget 5': { budget: 5 },
  'limits text': { limits: 'low' },
}

it.each(Object.entries(strange))('refuses options that are not of their kind: %s', async (_what, options) => {
  await expect(openRuntime(untyped(options))).rejects.toMatchObject({ name: 'LandfallError', code: 'INVALID_INPUT' })
})

it('takes null for an option that is not given', async () => {
  const runtime = await openRuntime(untyped({ budget: null, context: null, system: null, workspace: null }))
  await runtime.close()
})

it.each([1.5, 0, -1, '9', null])('takes no turn whose answer could have no room: maxOutput %s', async (maxOutput) => {
  const log = memoryLog()
  const runtime = await openRuntime({ log, model })
  const session = runtime.session(scope)
  const first = await session.start('a')
  const settings = { maxOutput }
  for (const refused of [
    session.followUp('b', { settings }),
    session.supersede('b', { settings }),
    session.spawn('b', { settings }),
    session.replace(first.id, 'b', { settings }),
  ])
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { field: 'settings.maxOutput' } })
  const second = await session.followUp('c', { settings: { maxOutput: 7 } })
  expect(await first.outcome()).toMatchObject({ status: 'completed', message: 'one' })
  expect(await second.outcome()).toMatchObject({ status: 'completed', message: 'two' })
  for await (const verdict of verifyStore(log)) expect(verdict.violations).toEqual([])
  await runtime.close()
})

it.each([Number.MAX_SAFE_INTEGER, 2 ** 40, 1e300, -1, Number.NaN])(
  'ends a turn whose provider counts %s tokens',
  async (count) => {
    const log = memoryLog()
    const counting: Model = {
      name: 'counting',
      async *request() {
        yield { type: 'text', text: 'four' }
        yield { type: 'finish', reason: 'stop', usage: { input: count, output: count, total: count, cached: count } }
      },
    }
    const runtime = await openRuntime({ log, model: counting })
    const turn = await runtime.session(scope).start('a')
    expect(await turn.outcome()).toMatchObject({ status: 'completed', usage: { output: 1, estimated: true } })
    for await (const verdict of verifyStore(log)) expect(verdict.violations).toEqual([])
    await runtime.close()
  },
)
