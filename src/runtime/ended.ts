import type { TerminalData } from '../../machines/facts-of-work.ts'
import type { StoredFact } from '../facts/envelope.ts'

/** The one terminal fact of a task, with the text of its final message. */
export interface Ended {
  readonly task: string
  readonly seq: number
  readonly type: StoredFact['type']
  readonly data: TerminalData
  readonly text: string | null
}
