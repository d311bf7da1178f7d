import { summarised } from '../../machines/compaction.ts'
import { viewOf } from '../../machines/message-reducers.ts'
import { isMessage, tailStartOf, type ViewEntry } from '../../machines/view.ts'
import type { Digest, TaskId } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import { occupancyOfMessage, utf8Bytes } from '../context/occupancy.ts'
import { summaryInstruction, summarySystem } from '../context/summary.ts'
import { keyedDigest } from '../facts/digest.ts'
import type { ModelMessage, ModelRequest } from '../facts/ports.ts'
import type { Bodies } from './bodies.ts'
import { needed } from './expand-messages.ts'
import { renderEntry } from './lane.ts'
import { rolled } from './request-view.ts'

/** What a summary of a task's view would tell of: a pure function of the folded view. */
export interface Prefix {
  readonly entries: readonly ViewEntry[]
  readonly tailStart: number
  /** Over the digests of the entries, one after the other. */
  readonly rolling: string
}

export function prefixOf(world: World, task: TaskId): Prefix {
  const { entries } = viewOf(world, task)
  const { tailMessages } = needed(world.session, 'session').context.settings.context
  const tailStart = tailStartOf(entries, tailMessages)
  const prefix = summarised(entries, tailStart)
  return { entries: prefix, tailStart, rolling: prefix.reduce(rolled, '') }
}

/** A summary of a summary alone, or of one message, would tell nothing shorter. */
export function isWorthwhile({ entries }: Prefix): boolean {
  return entries.filter(isMessage).length > 1
}

export function summaryDigest(key: string, prefix: Prefix): Digest {
  return keyedDigest(key, { system: summarySystem, instruction: summaryInstruction.content, rolling: prefix.rolling })
}

export function summaryMessages(bodies: Bodies, prefix: Prefix): readonly ModelMessage[] {
  return Object.freeze([...prefix.entries.map((entry) => renderEntry(bodies, entry)), summaryInstruction])
}

export function summaryOccupancy(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + occupancyOfMessage(message), utf8Bytes(summarySystem))
}

/** What a summary model is asked, as `model.requested` announces it. */
export function summaryRequestOf(
  messages: readonly ModelMessage[],
  of: { readonly maxOutput: number; readonly step: number; readonly turn: number },
): ModelRequest {
  const { maxOutput, step, turn } = of
  const tools = Object.freeze([])
  return Object.freeze({
    system: summarySystem,
    messages,
    tools,
    maxOutput,
    settings: Object.freeze({}),
    purpose: 'summary',
    turn,
    step,
  })
}
