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
  /** Entries whose names no workspace path can have. Git metadata is not counted. */
  readonly unlisted: number
}

/** What reading tools need of a workspace. */
export interface ReadableWorkspace {
  read(path: string, range?: ReadRange): Promise<ReadResult>
  list(path: string): Promise<ListResult>
}
