import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { aiSdkModel } from '../../src/models/ai-sdk/ai-sdk-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { RuntimeOptions } from '../../src/runtime/options.ts'
import { verifyStore } from '../../src/testing/verify-store.ts'
import { ask } from './wire/ask.ts'
import {
  cutAfter,
  hangingAfter,
  inPieces,
  type ProviderServer,
  type Reply,
  refusing,
  serving,
  streamed,
} from './wire/provider-server.ts'
import { type Wire, wires } from './wire/wires.ts'

const look = defineTool({
  name: 'shop.look',
  description: 'Looks.',
  input: z.strictObject({ at: z.string() }),
  effect: 'read',
  run: ({ at }) => `saw ${at}`,
})

/** A runtime whose model is a real package that speaks to a real server. */
async function working(wire: Wire, replies: readonly Reply[], options: Partial<RuntimeOptions> = {}) {
  const server = await serving(...replies)
  const log = memoryLog()
  const model = aiSdkModel(wire.model(server.url), { name: 'real' })
  const runtime = await openRuntime({ log, model, catalog: [look], ...options })
  onTestFinished(() => runtime.close())
  const session = runtime.session({ tenant: 't', user: 'u', session: 's' })
  /** Nothing is wrong with the store, and what is rebuilt of each request is what the server was sent. */
  const verified = async (sent: ProviderServer = server) => {
    for await (const { violations } of verifyStore(log)) expect(violations).toEqual([])
    const again = await serving(streamed(wire.body({ text: ['ok'] })))
    const facts = await session.log()
    for (const { type, seq } of facts)
      if (type === 'model.requested') await ask(aiSdkModel(wire.model(again.url)), await session.request({ seq }))
    expect(again.received.map(({ body }) => body)).toEqual(sent.received.map(({ body }) => body))
    return facts
  }
  return { server, runtime, session, verified }
}

const called = (at: string) => ({ calls: [{ name: 'shop_look', pieces: ['{"at":', JSON.stringify(at), '}'] }] })

describe.each(wires)('a turn over $name', (wire) => {
  it('uses a tool with a dotted name, and every request is rebuilt as it was sent', async () => {
    const { session, verified } = await working(wire, [
      streamed(wire.body({ text: ['Let me look.'], ...called('日本') })),
      inPieces(wire.body({ text: ['It was ', 'fine.'] }), 5),
      streamed(wire.body({ text: ['Second.'] })),
    ])
    const turn = await session.start('Look there.')
    expect(await turn.outcome()).toMatchObject({ status: 'completed', message: 'It was fine.', steps: 2 })
    expect((await session.calls()).map(({ name, outcome }) => [name, outcome])).toEqual([['shop.look', 'succeeded']])
    await (await session.start('And again?')).outcome()
    const facts = await verified()
    expect(facts.find((fact) => fact.type === 'call.requested')?.data).toMatchObject({ name: 'shop.look' })
    expect(JSON.stringify(facts)).not.toContain('shop_look')
  })

  it('is streamed: words are heard while the server still writes', async () => {
    const whole = wire.body({ text: ['First words', ' and the last.'] })
    const half = whole.slice(0, whole.indexOf(' and the last.'))
    const begun = half.slice(0, half.lastIndexOf('\n\n') + 2)
    let goOn = () => {}
    const { session, runtime, verified } = await working(wire, [
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(begun)
        goOn = () => void response.end(whole.slice(begun.length))
      },
    ])
    const heard: string[] = []
    runtime.events(session.scope, { ephemeral: true }).subscribe((event) => {
      if (event.type === 'model.delta') heard.push(event.text)
    })
    const turn = await session.start('Speak.')
    await expect.poll(() => heard.join('')).toContain('First')
    goOn()
    expect(await turn.outcome()).toMatchObject({ status: 'completed', message: 'First words and the last.' })
    await verified()
  })

  it('is asked again after a failure that passes: each attempt is a fact with its time', async () => {
    const { session, verified, server } = await working(wire, [
      refusing(429, { 'retry-after-ms': '30' }),
      cutAfter(wire.body({ text: ['half of it'] }), 0.7, 'reset'),
      streamed(wire.body({ text: ['whole'] })),
    ])
    const turn = await session.start('Please.')
    expect(await turn.outcome()).toMatchObject({ status: 'completed', message: 'whole', steps: 1 })
    const facts = await verified()
    const failed = facts.flatMap((fact) => (fact.type === 'model.failed' ? [{ ...fact.data, at: fact.at }] : []))
    expect(failed).toMatchObject([
      { code: 'MODEL_FAILED', retryable: true, attempt: 1 },
      { code: 'MODEL_FAILED', retryable: true, attempt: 2 },
    ])
    // Never before the time that the provider named, and a tenth later at most; the second failure named none.
    const [named = 0, own = 0] = failed.map(({ retryAt = '', at }) => Date.parse(retryAt) - Date.parse(at))
    expect([named >= 30, named <= 33, own >= 500, own <= 1_000]).toEqual([true, true, true, true])
    expect(server.received).toHaveLength(3)
  })

  it('is abandoned when the stream never ends, charged, and asked again', async () => {
    const hanging = hangingAfter(wire.body({ text: ['12345678', 'never', 'more'] }), 0.75)
    const replies = [hanging, streamed(wire.body({ text: ['at last'] }))]
    const { session, verified, server } = await working(wire, replies, { requestTimeoutMs: 200 })
    const turn = await session.start('Please.')
    expect(await turn.outcome()).toMatchObject({ status: 'completed', message: 'at last' })
    const abandoned = (await verified()).find((fact) => fact.type === 'model.abandoned')
    expect(abandoned?.data).toMatchObject({ reason: 'deadline', charged: { estimated: true } })
    await expect.poll(() => server.closed.length).toBe(1)
  })

  const broken: readonly (readonly [what: string, reply: Reply, code: string])[] = [
    ['garbage', streamed('data: {{{\n\n'), 'MODEL_INVALID_RESPONSE'],
    ['nothing behind its headers', cutAfter('', 0, 'end'), 'MODEL_INVALID_RESPONSE'],
    ['an unknown tool', streamed(wire.body({ calls: [{ name: 'rm', pieces: ['{}'] }] })), 'MODEL_INVALID_RESPONSE'],
    ['a refusal', refusing(400), 'MODEL_FAILED'],
    ['half an answer', streamed(wire.body({ text: ['half'], finish: wire.finishes.length })), 'MODEL_ANSWER_CUT'],
    ['a filtered answer', streamed(wire.body({ text: ['no'], finish: wire.finishes.filter })), 'MODEL_ANSWER_FILTERED'],
  ]
  it.each(broken)('fails once when the provider gives %s', async (_what, reply, code) => {
    const { session, verified, server } = await working(wire, [reply])
    const outcome = await (await session.start('Please.')).outcome()
    expect(outcome).toMatchObject({ status: 'failed', code, reason: expect.any(String) })
    expect(server.received).toHaveLength(1)
    await verified()
  })

  it('is refused before it is sent when two tools have one name for the provider, and both are named', async () => {
    const other = defineTool({ name: 'shop_look', description: 'x', input: z.strictObject({}), run: () => 1 })
    const { session, server } = await working(wire, [streamed('')], { catalog: [look, other] })
    const outcome = await (await session.start('Please.')).outcome()
    expect(outcome).toMatchObject({ status: 'failed', code: 'MODEL_TOOL_NAME_COLLISION' })
    expect(outcome.reason).toContain("'shop.look' and 'shop_look'")
    expect(server.received).toEqual([])
  })
})
