import fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { canonicalJson } from '../../src/facts/digest.ts'
import { isLandfallError } from '../../src/facts/errors.ts'
import { limits } from '../../src/facts/limits.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { parseCheckpoint } from '../../src/runtime/checkpoint/parse-checkpoint.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { quickTool, rigWith } from '../capabilities/kit.ts'
import { scope } from '../runtime/kit/rig.ts'

vi.setConfig({ testTimeout: 120_000 })

const numRuns = process.env.LANDFALL_SOAK === undefined ? 400 : 50_000
const seed = process.env.LANDFALL_SOAK === undefined ? 5 : Date.now()
const codes = ['CHECKPOINT_INVALID', 'CHECKPOINT_VERSION']

let text = ''
let document: Record<string, unknown> = {}
beforeAll(async () => {
  const rig = await rigWith([quickTool('look')], { system: 'Be exact. Ünïcode 🍰.', budget: { tokens: 1_000_000 } })
  await rig.session.start('look at "it" \\ 🍰')
  ;(await rig.model.next()).calls(['episode_start', { kind: 'exploration', goal: 'g' }], ['look', { id: '1e5' }])
  ;(await rig.model.next()).calls(['episode_end', { conclusion: 'c' }])
  ;(await rig.model.next()).text('seen')
  await rig.time.settle()
  await rig.session.memory.put('plan', { next: ['tea', 1.5, null, true] })
  document = { ...(await rig.session.checkpoint()) }
  text = JSON.stringify(document)
})

/** A refusal by its code, or the canonical form of what was read. Anything else that is thrown is a fault. */
function read(given: unknown): string {
  try {
    return canonicalJson(parseCheckpoint(given, limits))
  } catch (error) {
    if (isLandfallError(error)) return error.code
    throw error
  }
}

function refusedOrSame(given: unknown): void {
  const result = read(given)
  if (!codes.includes(result)) expect(result).toBe(canonicalJson(document))
}

describe('a document that was damaged', () => {
  it('at any byte is refused, or says the same', () => {
    const bytes = Buffer.from(text)
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const damaged = Uint8Array.from(bytes)
        damaged[at] = (damaged[at] ?? 0) ^ flip
        refusedOrSame(damaged)
        refusedOrSame(Buffer.from(damaged).toString('utf8'))
      }),
      { numRuns, seed },
    )
  })

  it('by a byte too many, one too few, or a piece in another place, is refused, or says the same', () => {
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(40), fc.string({ maxLength: 3 }), (at, length, put) => {
        refusedOrSame(text.slice(0, at))
        refusedOrSame(text.slice(at))
        refusedOrSame(text.slice(0, at) + text.slice(at + length))
        refusedOrSame(text.slice(0, at) + put + text.slice(at))
        refusedOrSame(text.slice(0, at) + text.slice(at, at + length) + text.slice(at))
      }),
      { numRuns, seed },
    )
  })

  it('by a key that stands there twice is refused, or says the same', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(document)), fc.jsonValue(), fc.boolean(), (key, value, first) => {
        const member = `${JSON.stringify(key)}:${JSON.stringify(value)}`
        refusedOrSame(first ? `{${member},${text.slice(1)}` : `${text.slice(0, -1)},${member}}`)
      }),
      { numRuns, seed },
    )
    const [inner] = /"turns":\d+/.exec(text) ?? []
    expect(read(text.replace(inner ?? '', `"turns":7,${inner}`))).toBe(canonicalJson(document))
    expect(read(text.replace(inner ?? '', `${inner},"turns":7`))).toBe('CHECKPOINT_INVALID')
    expect(read(`${text.slice(0, -1)},"__proto__":{"version":1}}`)).toBe('CHECKPOINT_INVALID')
    expect(read(`${text.slice(0, -1)},"constructor":1}`)).toBe('CHECKPOINT_INVALID')
  })

  it('says the same in any layout and any order of keys', () => {
    const turned = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(turned)
      if (value === null || typeof value !== 'object') return value
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, item]) => [key, turned(item)]),
      )
    }
    expect(read(JSON.stringify(turned(document), null, 2))).toBe(canonicalJson(document))
    expect(read(` \n${text}\t`)).toBe(canonicalJson(document))
    expect(read(document)).toBe(canonicalJson(document))
  })
})

it('what is no checkpoint at all is refused', () => {
  const anything = fc.oneof(fc.anything(), fc.json(), fc.string(), fc.uint8Array(), fc.object())
  fc.assert(
    fc.property(anything, (given) => {
      expect(codes).toContain(read(given))
    }),
    { numRuns, seed },
  )
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(document)), fc.anything(), (key, value) => {
      refusedOrSame({ ...document, [key]: value })
    }),
    { numRuns, seed },
  )
})

it('what nests too deep, or is too large, is refused before it is read', () => {
  for (const depth of [1_000, 1_000_000]) {
    const nest = '['.repeat(depth)
    for (const given of [nest, nest + ']'.repeat(depth), `${text.slice(0, -1)},"deep":${nest}${']'.repeat(depth)}}`])
      expect(read(given)).toBe('CHECKPOINT_INVALID')
    expect(read('{"a":'.repeat(depth))).toBe('CHECKPOINT_INVALID')
  }
  let deep: unknown = []
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep]
  expect(read({ ...document, deep })).toBe('CHECKPOINT_INVALID')
  expect(read(`${text}${' '.repeat(limits.checkpointBytes)}`)).toBe('CHECKPOINT_INVALID')
  expect(read('"'.repeat(limits.checkpointBytes))).toBe('CHECKPOINT_INVALID')
  expect(read({ ...document, model: 'x'.repeat(limits.checkpointBytes) })).toBe('CHECKPOINT_INVALID')
})

it('a refused document leaves nothing in the store, and an accepted one a session that verifies', async () => {
  const log = memoryLog()
  const runtime = await openRuntime({ log, model: scriptedModel({ name: 'none', otherwise: { text: '' } }) })
  await fc.assert(
    fc.asyncProperty(fc.nat(text.length - 1), fc.integer({ min: 1, max: 127 }), async (at, flip) => {
      const damaged = Buffer.from(text)
      damaged[at] = (damaged[at] ?? 0) ^ flip
      const code = await runtime.restore(damaged, { scope }).then(
        () => 'restored',
        (error: { code: string }) => error.code,
      )
      expect([...codes, 'restored', 'CONTEXT_FIXED']).toContain(code)
      if (codes.includes(code)) expect((await log.tail(0, 10)).length).toBeLessThanOrEqual(1)
    }),
    { numRuns: 100, seed },
  )
  await runtime.close()
})
