import { algorithms, isObservable, observe } from '../../machines/compaction.ts'
import type { FactOf } from '../../machines/facts.ts'
import type { MessageRecord, ViewEntry } from '../../machines/view.ts'
import type { ModelMessage } from '../facts/ports.ts'
import { sum } from './eviction.ts'

const previewBytes = 512

/** A large tool output as requests show it: where the whole can be read, and how it begins. */
export function renderObservation(record: MessageRecord, body: string): ModelMessage {
  const { id, bytes, forCall } = record
  const head = `[Observation ${id}: ${bytes} bytes, kept outside of the conversation. Read any range of it with observation_read.]`
  const content = `${head}\n${beginning(body)}…`
  return Object.freeze({ role: 'tool', content, toolCallId: forCall ?? '' })
}

/** Whole characters alone: a preview never ends inside of one. */
function beginning(body: string): string {
  let bytes = 0
  let text = ''
  for (const char of body.slice(0, previewBytes)) {
    bytes += Buffer.byteLength(char)
    if (bytes > previewBytes) break
    text += char
  }
  return text
}

/** The compaction that makes references of all outputs beyond the bound, or null when there is none. */
export function planObservation(
  entries: readonly ViewEntry[],
  beyond: number,
  sizeOf: (entry: ViewEntry) => number,
): FactOf<'context.compacted'>['data'] | null {
  const observed = entries.filter((entry) => isObservable(entry, beyond)).length
  if (observed === 0) return null
  const before = sum(entries, sizeOf)
  const after = sum(observe(entries, beyond), sizeOf)
  if (after >= before) return null
  return {
    algorithm: algorithms.observe,
    tailStart: 0,
    dropped: 0,
    observed,
    messagesBefore: entries.length,
    messagesAfter: entries.length,
    bytesBefore: before,
    bytesAfter: after,
  }
}
