import type { Digest } from './vocabulary.ts'

/** Where raw content is: its digest, and the commit that wrote it. */
export interface ContentAt {
  readonly digest: Digest
  readonly step: number
}
