import { LandfallError } from '../facts/errors.ts'
import { beyondBound, checkedTree, fileAndFolder, fileOf, type Tree, type TreeBounds, type TreeFile } from './tree.ts'
import { aboutPath, pathParts, refusedPath } from './workspace-path.ts'

const block = 512
/** Longest extended header that is believed: paths have at most 4,096 characters. */
const extendedBytes = 64 * 1_024
/** A file has a header for a long name, and folders of its own. */
const entriesForFile = 10

interface Entry {
  readonly type: string
  readonly name: string
  readonly size: number
  readonly executable: boolean
}

/**
 * Owns: the reading of an archive that somebody made who is not trusted.
 * 1. Only plain text files under lawful names become files; links and special files are a problem, folders are implied.
 * 2. No more is kept than the bounds of a tree allow, whatever the archive claims.
 * 3. The first problem stands; what comes after it is not looked at.
 */
export class TreeReader {
  readonly #bounds: TreeBounds
  readonly #files = new Map<string, TreeFile>()
  #pending = Buffer.alloc(0)
  #entry: Entry | null = null
  #longName: string | null = null
  /** What the newest header says, for whoever is told of a problem. */
  #name = ''
  #bytes = 0
  #entries = 0
  #ended = false
  #problem: unknown = null

  constructor(bounds: TreeBounds) {
    this.#bounds = bounds
  }

  /** False when the rest of the archive is of no use any more. */
  push(chunk: Uint8Array): boolean {
    if (this.#problem !== null) return false
    try {
      this.#pending = this.#pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#pending, chunk])
      while (!this.#ended && this.#take());
      if (this.#ended) this.#pending = Buffer.alloc(0)
    } catch (error) {
      this.#problem = aboutPath(error, this.#longName ?? this.#entry?.name ?? this.#name)
    }
    return this.#problem === null
  }

  /** The tree, or the first problem thrown. */
  tree(): Tree {
    if (this.#problem !== null) throw this.#problem
    if (!this.#ended) throw cutOff()
    const both = fileAndFolder(this.#files)
    if (both !== null) throw aboutPath(refusedPath('is that of a file and of a folder'), both)
    return checkedTree(this.#files, this.#bounds)
  }

  /** Takes one header, or the data of one entry; false when more bytes are needed. */
  #take(): boolean {
    if (this.#entry === null) {
      if (this.#pending.length < block) return false
      const header = this.#pending.subarray(0, block)
      this.#pending = this.#pending.subarray(block)
      if (header.every((byte) => byte === 0)) this.#ended = true
      else {
        const entry = entryOf(header)
        this.#name = entry.name
        this.#count()
        this.#entry = this.#judged(entry)
      }
      return true
    }
    const { size } = this.#entry
    const padded = Math.ceil(size / block) * block
    if (this.#pending.length < padded) return false
    const data = Buffer.from(this.#pending.subarray(0, size))
    this.#pending = this.#pending.subarray(padded)
    this.#keep(this.#entry, data)
    this.#entry = null
    return true
  }

  /** Folders cost a sandbox nothing that is bounded by bytes, so that they could be told without an end. */
  #count(): void {
    this.#entries += 1
    const bound = entriesForFile * this.#bounds.workspaceFiles
    if (this.#entries > bound) throw beyondBound('workspaceFiles', this.#bounds.workspaceFiles, this.#entries)
  }

  /** Refuses an entry before its data is read. */
  #judged(entry: Entry): Entry {
    const { type, size } = entry
    if (type === 'L' || type === 'x' || type === 'g' || type === 'K') {
      if (size > extendedBytes) throw refusedPath('has a name that is too long')
      return entry
    }
    if (type === '5') return entry
    if (type === '1' || type === '2') throw refusedPath('is a link, which the tree of a workspace cannot keep')
    if (type !== '0' && type !== '\0' && type !== '7') throw refusedPath('is neither a file nor a folder')
    if (size > this.#bounds.workspaceFileBytes)
      throw beyondBound('workspaceFileBytes', this.#bounds.workspaceFileBytes, size)
    this.#bytes += size
    if (this.#bytes > this.#bounds.workspaceTreeBytes)
      throw beyondBound('workspaceTreeBytes', this.#bounds.workspaceTreeBytes, this.#bytes)
    if (this.#files.size >= this.#bounds.workspaceFiles)
      throw beyondBound('workspaceFiles', this.#bounds.workspaceFiles, this.#files.size + 1)
    return entry
  }

  #keep(entry: Entry, data: Buffer): void {
    if (entry.type === 'L') this.#longName = textOf(data).replace(/\0.*$/s, '')
    else if (entry.type === 'x') this.#longName = paxPath(data) ?? this.#longName
    if (entry.type === 'L' || entry.type === 'K' || entry.type === 'x' || entry.type === 'g') return
    const name = this.#longName ?? entry.name
    // How tar says that a name is below the root of the archive is no part of the path.
    const told = name.replace(/^(\.\/+)+/, '').replace(/\/+$/, '')
    const path = pathParts(told || '.', this.#bounds.pathChars).join('/')
    if (entry.type !== '5') this.#files.set(path, fileOf(data, entry.executable))
    this.#longName = null
  }
}

function cutOff(): LandfallError {
  const message = 'The tree of the workspace could not be read after the program. Nothing that it changed is kept.'
  return new LandfallError('WORKSPACE_FAILED', message)
}

function entryOf(header: Buffer): Entry {
  let sum = 0
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 32 : byte
  if (sum !== numberAt(header, 148, 8)) throw cutOff()
  const prefix =
    header.toString('latin1', 257, 262) === 'ustar' && header[263] === 0x30 ? cString(header, 345, 155) : ''
  const name = cString(header, 0, 100)
  return {
    type: String.fromCharCode(header[156] ?? 0),
    name: prefix === '' ? name : `${prefix}/${name}`,
    size: numberAt(header, 124, 12),
    executable: (numberAt(header, 100, 8) & 0o100) !== 0,
  }
}

/** Octal text, or a binary number behind a set first bit, as large sizes are written. */
function numberAt(header: Buffer, at: number, width: number): number {
  if (((header[at] ?? 0) & 0x80) !== 0) return Number.MAX_SAFE_INTEGER
  const value = Number.parseInt(header.toString('latin1', at, at + width).replace(/[\0 ]/g, '') || '0', 8)
  if (!Number.isSafeInteger(value) || value < 0) throw cutOff()
  return value
}

function cString(header: Buffer, at: number, width: number): string {
  const field = header.subarray(at, at + width)
  const end = field.indexOf(0)
  return textOf(end < 0 ? field : field.subarray(0, end))
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    throw refusedPath('is not UTF-8')
  }
}

/** The path of a pax header: records of the form `<length> <key>=<value>\n`. */
function paxPath(data: Buffer): string | null {
  for (let at = 0; at < data.length; ) {
    const blank = data.indexOf(0x20, at)
    const length = Number.parseInt(data.toString('latin1', at, blank), 10)
    if (blank < 0 || !(length > 0)) throw cutOff()
    const record = data.subarray(blank + 1, at + length - 1)
    if (record.toString('latin1', 0, 5) === 'path=') return textOf(record.subarray(5))
    at += length
  }
  return null
}
