import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { StoredFact } from '../../src/facts/envelope.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { aiSdkModel } from '../../src/models/ai-sdk/ai-sdk-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { ask } from '../models/wire/ask.ts'
import { inPieces, type ProviderServer, refusing, serving, streamed } from '../models/wire/provider-server.ts'
import { type Wire, wires } from '../models/wire/wires.ts'
import { landfallProcess, workFolder } from './cli-process.ts'
import { landfall } from './landfall.ts'

// Processes are started here, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const key = 'sk-test-0123456789abcdefghijklmnop'

function wireNamed(name: string): Wire {
  const found = wires.find((wire) => wire.name === name)
  if (found === undefined) throw new Error(`there is no wire ${name}`)
  return found
}

/** Every request of the default session, rebuilt from the store and put into the words of the provider again. */
async function sentAgain(cwd: string, wire: Wire): Promise<readonly object[]> {
  const log = sqliteLog(join(cwd, 'landfall.db'))
  const none = aiSdkModel(wire.model('http://127.0.0.1:1'), { name: 'none' })
  const runtime = await openRuntime({ log, model: none })
  const session = runtime.session({ tenant: 'local', user: 'local', session: 'default' })
  const server = await serving(streamed(wire.body({ text: ['ok'] })))
  for (const { type, seq } of await session.log())
    if (type === 'model.requested') await ask(aiSdkModel(wire.model(server.url)), await session.request({ seq }))
  await runtime.close()
  await log.close()
  return server.received.map(({ body }) => body)
}

const compatible = wireNamed('openai-compatible')
const modelOf = (server: ProviderServer) => `openai-compatible:${server.url}#m`

describe('--model openai-compatible:URL#ID', () => {
  it('runs a turn with tools, and verify rebuilds what the server was sent', async () => {
    const cwd = workFolder()
    const list = { name: 'fs_list', pieces: ['{"pa', 'th":"."}'] }
    const server = await serving(
      inPieces(compatible.body({ text: ['Let me see.'], calls: [list] }), 50),
      inPieces(compatible.body({ text: ['I see ', 'Dateien für ', 'dich.'] }), 3),
    )
    const words = ['run', 'What is here?', '--model', modelOf(server), '--workspace', '.']
    const turn = await landfall(words, { cwd, env: { OPENAI_COMPATIBLE_API_KEY: key, OPENAI_API_KEY: 'sk-another' } })
    expect(turn).toMatchObject({ code: 0, out: 'I see Dateien für dich.\n' })
    expect(turn.err).toContain('fs.list succeeded')
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${key}`, `Bearer ${key}`])
    const verified = await landfall(['verify', '--all'], { cwd })
    expect(verified).toMatchObject({ code: 0, out: expect.stringMatching(/^ok local\/local\/default .*requests=2/m) })
    const log = await landfall(['log'], { cwd })
    expect(`${turn.out}${turn.err}${log.out}`).not.toContain(key)
    const facts = log.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as StoredFact)
    expect(facts.find(({ type }) => type === 'model.requested')?.data).toMatchObject({ model: modelOf(server) })
    // A runtime names its own models, and the instructions of both sides are the same, so the bodies are too.
    expect(await sentAgain(cwd, compatible)).toEqual(server.received.map(({ body }) => body))
  })

  it('shows that a request failed and is made again; a wait beyond the limit ends the turn and is told', async () => {
    const cwd = workFolder()
    const answer = streamed(compatible.body({ text: ['At last.'] }))
    const passing = await serving(refusing(429, { 'retry-after-ms': '300' }), answer)
    const turn = await landfall(['run', 'Hi.', '--model', modelOf(passing)], { cwd })
    expect(turn).toMatchObject({ code: 0, out: 'At last.\n' })
    expect(turn.err).toMatch(
      /model failed: MODEL_FAILED, asked again in 0\.3 s: .*\(status 429\)\.\n.*asked again \(attempt 2\)/,
    )
    const talk = await landfall(['chat', '--model', modelOf(await serving(refusing(500), answer))], {
      cwd,
      input: 'Hi.\n',
    })
    expect(talk.err).toMatch(/asked again in 0\.\d s: .*\(status 500\)\.\n.*asked again \(attempt 2\)/)
    const long = await serving(refusing(429, { 'retry-after': '3600' }))
    const failed = await landfall(['run', 'Hi.', '--model', modelOf(long)], { cwd })
    expect(failed.code).toBe(1)
    expect(failed.err).toContain('MODEL_FAILED: The turn failed: The provider asks for a wait of 3600 s; at most 600 s')
    expect(long.received).toHaveLength(1)
  })

  it('fails the turn with the reason when two tools have one name there, and sends nothing', async () => {
    const cwd = workFolder()
    const index = new URL('../../dist/src/index.js', import.meta.url).href
    const tools = `import { defineTool } from '${index}'
      import { z } from '${new URL('../../node_modules/zod/index.js', import.meta.url).href}'
      const tool = (name) => defineTool({ name, description: name, input: z.strictObject({}), run: () => name })
      export default [tool('shop.look'), tool('shop_look')]`
    writeFileSync(join(cwd, 'tools.mjs'), tools)
    const server = await serving(refusing(500))
    const turn = await landfall(['run', 'x', '--model', modelOf(server), '--tools', 'tools.mjs'], { cwd })
    expect(turn.code).toBe(1)
    expect(turn.err).toContain('MODEL_TOOL_NAME_COLLISION')
    expect(turn.err).toContain("'shop.look' and 'shop_look'")
    expect(server.received).toEqual([])
  })
})

describe('--model of a vendor', () => {
  it.each([
    { vendor: 'openai', name: 'openai responses', header: 'authorization', value: `Bearer ${key}` },
    { vendor: 'anthropic', name: 'anthropic', header: 'x-api-key', value: key },
  ])('$vendor takes its key and its address from the environment', async ({ vendor, name, header, value }) => {
    const [variable, base] = ['API_KEY', 'BASE_URL'].map((word) => `${vendor.toUpperCase()}_${word}`) as [
      string,
      string,
    ]
    const cwd = workFolder()
    const wire = wireNamed(name)
    const server = await serving(streamed(wire.body({ text: ['Hello.'] })))
    const env = { [base]: server.url, [variable]: key }
    const turn = await landfall(['run', 'Hi.', '--model', `${vendor}:m`], { cwd, env })
    expect(turn).toMatchObject({ code: 0, out: 'Hello.\n' })
    expect(server.received[0]?.headers[header]).toBe(value)
    const without = await landfall(['run', 'Hi.', '--model', `${vendor}:m`], { cwd, env: { [variable]: '' } })
    expect(without).toMatchObject({ code: 2, err: expect.stringContaining(variable) })
  })

  it('says how to install a package that is missing', async () => {
    const cwd = workFolder()
    const hooks = `export async function resolve(name, context, next) {
      if (!name.startsWith('@ai-sdk/')) return next(name, context)
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
    }`
    const code = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)})`
    writeFileSync(join(cwd, 'without.mjs'), code)
    const env = {
      NODE_OPTIONS: `--import ${join(cwd, 'without.mjs')}`,
      OPENAI_API_KEY: key,
      ANTHROPIC_API_KEY: key,
    }
    for (const [model, wanted] of [
      ['openai:m', '@ai-sdk/openai@3'],
      ['anthropic:m', '@ai-sdk/anthropic@3'],
      ['openai-compatible:http://127.0.0.1:1/v1#m', '@ai-sdk/openai-compatible@2'],
    ] as const) {
      const turn = await landfallProcess(['run', 'x', '--model', model, '--json'], { cwd, env })
      expect(turn.code).toBe(2)
      expect(JSON.parse(turn.err)).toMatchObject({ code: 'USAGE', details: { install: `npm install ${wanted}` } })
    }
  })

  it('is refused when its address is none, or holds what does not belong into a log', async () => {
    const cwd = workFolder()
    for (const model of [
      'openai-compatible:',
      'openai-compatible:http://127.0.0.1:1/v1',
      'openai-compatible:ftp://127.0.0.1#m',
      'openai-compatible:http://ada:secret@127.0.0.1/v1#m',
      'openai-compatible:http://127.0.0.1/v1?key=secret#m',
    ]) {
      const turn = await landfall(['run', 'x', '--model', model], { cwd })
      expect(turn).toMatchObject({ code: 2, out: '' })
      expect(turn.err).not.toContain('secret')
    }
  })
})
