import { expect, it } from 'vitest'
import { commentFrame, joinedFrames } from '../../src/protocol/sse-frame.ts'

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

it('frames that many subscribers are given at once are put together once', () => {
  const [a, b, c] = ['a', 'b', 'c'].map(commentFrame) as [Uint8Array, Uint8Array, Uint8Array]
  const both = joinedFrames([a, b])
  expect(text(both)).toBe(': a\n\n: b\n\n')
  expect(joinedFrames([a, b])).toBe(both)
  expect(joinedFrames([a])).toBe(a)
  expect(text(joinedFrames([a, c]))).toBe(': a\n\n: c\n\n')
  expect(text(joinedFrames([a, b, c]))).toBe(': a\n\n: b\n\n: c\n\n')
  expect(text(joinedFrames([b, a]))).toBe(': b\n\n: a\n\n')
  expect(text(joinedFrames([a, b]))).toBe(': a\n\n: b\n\n')
})
