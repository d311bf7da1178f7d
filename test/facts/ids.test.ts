import fc from 'fast-check'
import { isValid } from 'ulid'
import { expect, test } from 'vitest'
import { checkId, nextId, ulidIds } from '../../src/facts/ids.ts'
import { systemRandom } from '../../src/facts/system-ports.ts'

test('ids of a session strictly increase, whatever its clock does', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 47 }), { minLength: 2, maxLength: 50 }), (times) => {
      let now = 0
      const ids = ulidIds({ now: () => now }, systemRandom)
      let last = ''
      for (const time of times) {
        now = time
        const id = nextId(last, ids)
        expect(id > last && isValid(id)).toBe(true)
        last = id
      }
    }),
  )
})

test('a source whose clock is behind continues after the last id', () => {
  expect(nextId('7ZZZZZZZZZ0000000000000009', { next: () => '01JGTEST000000000000000000' })).toBe(
    '7ZZZZZZZZZ000000000000000A',
  )
  expect(nextId('01JGTEST0000000000000000ZZ', { next: () => '01JGTEST0000000000000000ZZ' })).toBe(
    '01JGTEST000000000000000100',
  )
})

test('one source and one seed give one series', () => {
  const series = () => {
    let n = 0
    const random = { next: () => (++n * 0.37) % 1, bytes: () => new Uint8Array() }
    const ids = ulidIds({ now: () => 1_700_000_000_000 }, random)
    return [ids.next(), ids.next(), ids.next()]
  }
  expect(series()).toEqual(series())
  expect(new Set(series()).size).toBe(3)
})

test.each(['', '_control', 'a\u0000b', 'a\nb', 'a\u007f', '\ud800', 'x'.repeat(129), 7, null])(
  'the id %j is refused without being repeated',
  (value) => {
    expect(() => checkId('session', value)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', details: { field: 'session', which: 'idChars', bound: 128 } }),
    )
  },
)

test.each(['a', 'x'.repeat(128), 'päckchen 7', 'a_b', '😀', 'a/b'])('the id %j is taken as it is', (value) => {
  expect(checkId('user', value)).toBe(value)
})
