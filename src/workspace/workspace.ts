import type { Limits } from '../facts/limits.ts'

/** What bounds the tools that read. */
export type ReadBounds = Pick<Limits, 'outputBytes' | 'pathChars'>

export interface ReadRange {
  /** Bytes from the beginning; moved to the next whole character. */
  readonly offset?: number
  /** Most bytes to read; the answer may have fewer, and says where to go on. */
  readonly length?: number
}

export interface ReadResult {
  readonly path: string
  readonly text: string
  /** Where `text` begins and how long it is, in bytes. */
  readonly offset: number
  readonly bytes: number
  /** Bytes of the whole file. */
  readonly size: number
  /** Where the next range begins; absent at the end of the file. */
  readonly next?: number
}

export interface ListEntry {
  readonly name: string
  readonly type: 'file' | 'directory' | 'link' | 'other'
}

export interface ListResult {
  readonly path: string
  readonly entries: readonly ListEntry[]
  /** Entries that are there and cannot be named or were not copied. Git metadata is not counted. */
  readonly unlisted: number
}

/** What reading tools need of a workspace. */
export interface ReadableWorkspace {
  read(path: string, range?: ReadRange): Promise<ReadResult>
  list(path: string): Promise<ListResult>
}

export interface WriteResult {
  readonly path: string
  readonly bytes: number
  readonly created: boolean
}

export interface ExecRequest {
  /** The program and its words; no shell reads them. */
  readonly argv: readonly string[]
  /** A folder of the workspace; absent: its root. */
  readonly cwd?: string
  readonly timeoutMs?: number
}

export interface ExecResult {
  /** 128 and the number of the signal, when one ended the program. */
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** Files of the workspace that are other than before. */
  readonly changed: number
}

export interface DiffResult {
  readonly diff: string
  readonly files: number
}

export type Isolation = 'none' | 'bubblewrap' | 'docker'

/** What the native tools need. Only an attested one is written to, and runs programs. */
export interface Workspace extends ReadableWorkspace {
  readonly isolation: Isolation
  /** A call that is told to stop before it has its turn writes nothing. */
  write(path: string, contents: string, context?: { readonly signal: AbortSignal }): Promise<WriteResult>
  exec(request: ExecRequest, context: { readonly signal: AbortSignal }): Promise<ExecResult>
  /** What changed since the workspace began. */
  diff(): Promise<DiffResult>
}
