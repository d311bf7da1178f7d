import { createHash, createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { canonicalJson, contractDigest, keyedDigest } from '../../src/facts/digest.ts'

const key = '0b'.repeat(32)

test('a keyed digest is HMAC-SHA-256 of the text', () => {
  const hex = createHmac('sha256', Buffer.from(key, 'hex')).update('Hi There').digest('hex')
  expect(keyedDigest(key, 'Hi There')).toBe(`hmac-sha256:${hex}`)
  expect(keyedDigest('0c'.repeat(32), 'Hi There')).not.toBe(keyedDigest(key, 'Hi There'))
  expect(keyedDigest(key, 'Hi There')).toBe(`hmac-sha256:${hex}`)
})

test('a structured value is digested over its canonical JSON, so key order does not matter', () => {
  expect(keyedDigest(key, { b: 1, a: [2, { d: 3, c: 4 }] })).toBe(keyedDigest(key, '{"a":[2,{"c":4,"d":3}],"b":1}'))
  expect(contractDigest({ b: 1, a: 2 })).toBe(contractDigest({ a: 2, b: 1 }))
  expect(contractDigest({ a: 2 })).toBe(`sha256:${createHash('sha256').update('{"a":2}').digest('hex')}`)
})

test('strings are made well-formed, in keys and values alike', () => {
  expect(canonicalJson({ 'k\ud800': ['v\udc00', '😀'] })).toBe('{"k\ufffd":["v\ufffd","😀"]}')
  expect(canonicalJson('\\ud800')).toBe('"\\\\ud800"')
  expect(keyedDigest(key, 'a\ud800')).toBe(keyedDigest(key, 'a\ufffd'))
})

test('what JSON cannot say is refused or left out', () => {
  expect(() => canonicalJson(Number.NaN)).toThrow()
  expect(() => canonicalJson(undefined)).toThrow(TypeError)
  expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}')
})
