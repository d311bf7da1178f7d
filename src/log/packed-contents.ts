import type { Content } from '../facts/log-port.ts'

/**
 * All contents of a step as one text: a JSON line of `[digest, length, digest, length, …]`, then the bodies end to end. One row a step
 * instead of one a piece, and no escaping of what may be megabytes. Lengths are in UTF-16 units.
 */
export function packContents(contents: readonly Content[]): string {
  const index: (string | number)[] = []
  let bodies = ''
  for (const { digest, body } of contents) {
    index.push(digest, body.length)
    bodies += body
  }
  return `${JSON.stringify(index)}\n${bodies}`
}

export function findContent(packed: string, digest: string): string | null {
  const start = packed.indexOf('\n') + 1
  const index = JSON.parse(packed.slice(0, start)) as (string | number)[]
  let offset = start
  for (let i = 0; i < index.length; i += 2) {
    const length = index[i + 1] as number
    if (index[i] === digest) return packed.slice(offset, offset + length)
    offset += length
  }
  return null
}
