import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultRedactor } from '../../src/redaction/default-redactor.ts'
import { streamingRedactor } from '../../src/redaction/streaming-redactor.ts'
import { harmless, secrets } from './corpus.ts'

const redactor = defaultRedactor()

/** Cuts a text into chunks of the given sizes, again and again. */
function cut(text: string, sizes: readonly number[]): string[] {
  const chunks: string[] = []
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    chunks.push(text.slice(at, at + size))
    at += size
  }
  return chunks
}

function streamed(chunks: readonly string[]): string {
  const stream = streamingRedactor(redactor)
  return chunks.map((chunk) => stream.push(chunk)).join('') + stream.flush()
}

describe('a stream', () => {
  it.each(secrets)('does not let $name through, however it is split', ({ text, secret }) => {
    for (const around of [text, `before ${text} after`, `see:\n${text}\nend`])
      for (const sizes of [[1], [2], [3, 1], [7], [40], [1_000]])
        expect(streamed(cut(around, sizes))).not.toContain(secret)
  })

  it.each(secrets)('INV-12: $name: every way to cut it in two gives what the whole would give', ({ text, secret }) => {
    const around = `before ${text} after`
    const whole = redactor.text(around)
    expect(whole).not.toContain(secret)
    for (let at = 1; at < around.length; at += 1) expect(streamed([around.slice(0, at), around.slice(at)])).toBe(whole)
  })

  it('INV-12: any way to cut a text with secrets in it into many pieces', () => {
    const text = fc.tuple(fc.constantFrom(...secrets), fc.constantFrom(...secrets), fc.constantFrom(' ', '\n', ' and '))
    const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(text, cuts, ([one, other, between], sizes) => {
        const shown = streamed(cut(`${one.text}${between}${other.text}`, sizes))
        expect(shown).not.toContain(one.secret)
        expect(shown).not.toContain(other.secret)
      }),
      { seed: 17, numRuns: 2_000 },
    )
  })

  it('gives what the whole text would give', () => {
    const words = fc.constantFrom(
      ...harmless,
      ...secrets.map(({ text }) => text),
      'some words',
      'Bearer',
      'password',
      '中文',
    )
    const text = fc.array(words, { maxLength: 6 }).map((parts) => parts.join(' '))
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 }), (given, sizes) => {
        expect(streamed(cut(given, sizes))).toBe(redactor.text(given))
      }),
      { seed: 5, numRuns: 1_500 },
    )
  })

  it('shows harmless words as soon as the next one begins', () => {
    const stream = streamingRedactor(redactor)
    expect(stream.push('It has ')).toBe('It has ')
    expect(stream.push('three fi')).toBe('three ')
    expect(stream.push('les.')).toBe('')
    expect(stream.flush()).toBe('files.')
    expect(stream.flush()).toBe('')
  })

  it('does not wait for blanks in scripts that have none', () => {
    expect(streamingRedactor(redactor).push('这是一段文本')).toBe('这是一段文本')
  })
})

describe('the bound', () => {
  const holds = (chunks: readonly string[]): number => {
    const stream = streamingRedactor(redactor)
    let given = 0
    let most = 0
    for (const chunk of chunks) {
      given += chunk.length
      most = Math.max(most, given - stream.push(chunk).length)
    }
    return most
  }

  it('a run without end is withheld, and what follows is shown', () => {
    const run = '{"a":1},'.repeat(4_000)
    const out = streamed(cut(`x ${run} and then`, [100]))
    expect(out).toBe('x [redacted] and then')
    expect(holds([run])).toBeGreaterThan(8_192)
  })

  it('a quoted secret that is longer is withheld to its closing quote', () => {
    const long = 'many words '.repeat(2_000)
    const out = streamed(cut(`{"password": "${long}", "port": 80}`, [64]))
    expect(out).not.toContain('many words')
    expect(out).toContain('"port": 80}')
  })

  it('the inside of a long private key is not held', () => {
    const body = `${'A'.repeat(64)}\n`.repeat(2_000)
    const text = `x -----BEGIN PRIVATE KEY-----\n${body}-----END PRIVATE KEY----- y`
    expect(streamed(cut(text, [50]))).toBe('x [redacted] y')
    expect(streamed(cut(text.slice(0, 90_000), [50]))).toBe('x [redacted]')
  })

  it('costs time with the length of the stream, not with its square', () => {
    const measure = (words: number): number => {
      const chunks = cut('word '.repeat(words), [4])
      const start = performance.now()
      streamed(chunks)
      return performance.now() - start
    }
    measure(2_000)
    expect(measure(32_000) / Math.max(measure(4_000), 1)).toBeLessThan(32)
  })
})
