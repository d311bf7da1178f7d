import type { TaskRecord } from '../../machines/world.ts'
import { keyedDigest } from '../facts/digest.ts'
import { needed } from './expand-messages.ts'

/** What is not told by the facts of the task alone. */
export interface Assembled {
  /** Digest of the tools. */
  readonly tools: string
  /** Over the digests of the view's entries, one after the other. */
  readonly rolling: string
}

/** The digest that `verify` compares a rebuilt request with: settings, system, active skills, tools, and the view. */
export function requestDigest(key: string, record: TaskRecord, { tools, rolling }: Assembled): string {
  const { settings, system } = needed(record.started, 'start')
  const skills = record.active.map(({ digest }) => digest)
  return keyedDigest(key, { settings, system, tools, rolling, ...(skills.length === 0 ? {} : { skills }) })
}
