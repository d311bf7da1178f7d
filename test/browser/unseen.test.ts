import { describe, expect, it } from 'vitest'
import { seen } from '../../src/inspector/browser/console/unseen.ts'

const points = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at))

describe('signs that cannot be seen', () => {
  it('are written out: those that turn text around, take no room, or control', () => {
    const hidden = [
      ...points(0x202a, 0x202e),
      ...points(0x2066, 0x2069),
      ...points(0x200b, 0x200f),
      ...points(0x2060, 0x2064),
      ...points(0x2028, 0x2029),
      ...points(0xe0020, 0xe007f),
      ...points(0x0, 0x8),
      ...points(0xb, 0xc),
      ...points(0xe, 0x1f),
      ...points(0x7f, 0x9f),
      ...['\u061c', '\ufeff', '\u00ad', '\u034f', '\u180e', '\u3164', '\ufe0f', '\ud800'],
    ]
    for (const sign of hidden) {
      const point = (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
      expect(seen(`a${sign}b`)).toBe(`a⟨U+${point}⟩b`)
    }
    expect(seen('\u202egnp.exe')).toBe('⟨U+202E⟩gnp.exe')
    expect(seen('over\rwritten')).toBe('over⟨U+000D⟩written')
  })

  it.each([
    ['line ends and tabs', 'a\r\nb\n\tc'],
    ['pictures', '❤️ 👨‍👩‍👧 👍🏽 1️⃣ 🏳️‍🌈'],
    ['letters that join', 'می‌خواهم क्‍ष'],
    ['writing from right to left', 'שלום العربية ١٢٣'],
    ['other writing', 'Ünïcödé – 漢字 “…” a\u0301'],
    ['what was written out', '⟨U+202E⟩'],
  ])('leave %s alone', (_, text) => {
    expect(seen(text)).toBe(text)
  })

  it('are written out where a row of them would carry words', () => {
    expect(seen('ok\u{e0041}\u{e0042}')).toBe('ok⟨U+E0041⟩⟨U+E0042⟩')
    expect(seen('😀\ufe00\ufe01')).toBe('😀\ufe00⟨U+FE01⟩')
  })
})
