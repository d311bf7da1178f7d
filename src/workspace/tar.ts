import type { Tree } from './tree.ts'

const block = 512
const nameBytes = 100

/**
 * A tree as a tar archive. Names that do not fit a header come before it, in the way that GNU and BusyBox read. Folders have no
 * entries, since tar makes what a file needs: deep paths name many more folders than there are files, and those have no bound.
 */
export function tarOf(tree: Tree, seconds: number): Buffer {
  const parts: Buffer[] = []
  for (const [path, file] of tree) {
    const data = Buffer.from(file.text)
    parts.push(...entry({ name: path, mode: file.executable ? 0o755 : 0o644, type: '0', seconds }, data))
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * block)])
}

export interface TarHead {
  readonly name: string
  readonly mode: number
  readonly type: string
  readonly seconds: number
  /** Where a link leads. */
  readonly link?: string
}

/** One entry of an archive, with what it needs before it, padded. */
export function entry(head: TarHead, data: Uint8Array = Buffer.alloc(0)): readonly Buffer[] {
  const name = Buffer.from(head.name)
  const long =
    name.length <= nameBytes
      ? []
      : entry({ name: '././@LongLink', mode: 0o644, type: 'L', seconds: 0 }, Buffer.concat([name, Buffer.alloc(1)]))
  const padding = Buffer.alloc((block - (data.length % block)) % block)
  return [...long, header(head, name.subarray(0, nameBytes), data.length), Buffer.from(data), padding]
}

function header(head: TarHead, name: Uint8Array, size: number): Buffer {
  const made = Buffer.alloc(block)
  made.set(name, 0)
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`
  made.write(octal(head.mode, 8), 100)
  made.write(octal(0, 8), 108)
  made.write(octal(0, 8), 116)
  made.write(octal(size, 12), 124)
  made.write(octal(head.seconds, 12), 136)
  made.write('        ', 148)
  made.write(head.type, 156)
  made.write(head.link ?? '', 157)
  made.write('ustar\x0000', 257, 'latin1')
  let sum = 0
  for (const byte of made) sum += byte
  made.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return made
}
