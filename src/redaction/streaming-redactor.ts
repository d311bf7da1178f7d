import type { Redactor } from '../facts/ports.ts'
import { redacted, secretName } from './credential-patterns.ts'

/** Longest text that is held back, in UTF-16 units. */
const holdLimit = 8_192

/** Words after which a blank does not end the matter. */
const openName = new RegExp(
  `(?:\\bbearer|${secretName}\\s{0,3}[:=])\\s{0,3}(?:(?:Bearer|Basic|Token|Digest)\\s{0,3})?` +
    `(?:"(?:[^"\\\\]|\\\\.)*\\\\?|'(?:[^'\\\\]|\\\\.)*\\\\?|\\\\(?:"[^"\\\\]*\\\\?)?|[^\\s"'\\\\]*)$|${secretName}\\s{0,3}$`,
  'i',
)
const openQuote = new RegExp(`${secretName}\\s{0,3}[:=]\\s{0,3}\\\\?(["'])`, 'i')
/** A header of cookies, as far as its line goes. */
const openCookies = /\bcookie\s{0,3}(?::[^\r\n"'\\]*)?$/i
const openKey = /-----B[A-Z0-9 -]{0,64}$/
const keyBegin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
/** Longest end of something dropped, so that one split over two chunks is still found. */
const endLength = 128
const keyEnd = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
/** Lines of base64 that more lines may follow. */
const openLines = /(?:[A-Za-z0-9+/]{60,80}(?:\r?\n|\\n))+[A-Za-z0-9+/]{0,80}={0,2}\r?$/

export interface StreamingRedactor {
  /** What may be shown now; the rest is held until it is known to be harmless. */
  push(chunk: string): string
  /** What was held, at the end of the stream. */
  flush(): string
}

/** How to get past a held text that outgrew the limit: to the closing quote of a quoted secret, else to the end of the run. */
function wayOut(held: string): { skip: number; until: RegExp } {
  const open = openQuote.exec(held)
  if (!open) return { skip: 0, until: /(?=[^!-~])/ }
  return { skip: open.index + open[0].length, until: open[1] === '"' ? /(?<!\\)"/ : /(?<!\\)'/ }
}

/** Start of the run of printable ASCII that ends at `end`: a credential without blanks may stand there, unfinished. */
function runStart(text: string, end: number): number {
  let start = end
  while (start > 0 && text.charCodeAt(start - 1) > 0x20 && text.charCodeAt(start - 1) < 0x7f) start -= 1
  return start
}

/**
 * Where the text begins that must be held: everything before it is complete, whatever comes next. The last run is always
 * held; then whatever is still open before it, the run in which that begins, and so on.
 */
function heldFrom(text: string): number {
  let start = runStart(text, text.length)
  for (;;) {
    const before = text.slice(0, start)
    const open = [openName, openCookies, openKey, openLines].flatMap((pattern) => pattern.exec(before)?.index ?? [])
    if (open.length === 0) return start
    const earlier = runStart(before, Math.min(...open))
    if (earlier === start) return start
    start = earlier
  }
}

/*
 * Owns the end of a stream of text that is not yet known to be harmless.
 * 1. What `push` and `flush` return, joined, is what the redactor makes of the whole text, but for 2.
 * 2. At most `holdLimit` units are held. What outgrows it is withheld to its end: too much rather than too little.
 * 3. The inside of a private key is dropped as it comes; nothing of it is held.
 */
export function streamingRedactor(redactor: Redactor): StreamingRedactor {
  let held = ''
  let dropping: RegExp | null = null

  /** Removes from the front of `held` what belongs to something that is being dropped. */
  const drop = (until: RegExp): void => {
    const end = until.exec(held)
    if (end) {
      held = held.slice(end.index + end[0].length)
      dropping = null
    } else held = held.slice(-endLength)
  }

  const release = (end: number): string => {
    const text = held.slice(0, end)
    held = held.slice(end)
    return redactor.text(text)
  }

  const step = (): string => {
    const key = keyBegin.exec(held)
    if (key) {
      const shown = `${release(key.index)}${redacted}`
      held = held.slice(key[0].length)
      dropping = keyEnd
      return shown
    }
    const shown = release(heldFrom(held))
    if (held.length <= holdLimit) return shown
    const { skip, until } = wayOut(held)
    held = held.slice(skip)
    dropping = until
    return `${shown}${redacted}`
  }

  const take = (piece: string): string => {
    held += piece
    let shown = ''
    for (let before = -1; held.length !== before; ) {
      before = held.length
      if (dropping) drop(dropping)
      if (!dropping) shown += step()
    }
    return shown
  }

  return {
    push(chunk) {
      let shown = ''
      // In pieces, so that no pattern ever looks at more than twice the limit.
      for (let at = 0; at < chunk.length; at += holdLimit) shown += take(chunk.slice(at, at + holdLimit))
      return shown
    },
    flush() {
      const shown = dropping ? '' : redactor.text(held)
      held = ''
      dropping = null
      return shown
    },
  }
}
