import type { FactData, FactOf, FactType } from '../../../machines/facts.ts'
import { sampleTime } from './sample-time.ts'
import { standInCatalog, standInGrants, standInRefs } from './stand-in-host.ts'

/** An event to click, with what tells it from others of its type. */
export interface SampleEvent {
  readonly label: string
  readonly event: { readonly type: string }
}

export const sampleDigest = `hmac-sha256:${'0'.repeat(64)}`

export const sampleUsage = { input: 120, output: 30, total: 150 } as const
export const sampleSettings = {
  model: 'demo',
  system: null,
  limits: {},
  budget: null,
  context: { windowTokens: 65_536, thresholdTokens: 52_428, tailMessages: 8, reserveTokens: 4_096 },
} as const

export const sampleEnd = {
  usage: sampleUsage,
  steps: 1,
  calls: { total: 0, failed: 0, succeededMutating: 0, unknownMutating: 0, cancelled: 0 },
  pendingSteering: [],
} as const

export const sampleInput = { input: sampleDigest, bytes: 12, request: sampleDigest, watermark: 0 } as const

export const sampleStarted: FactData['task.started'] = {
  generation: 1,
  control: 0,
  capabilities: standInRefs,
  grants: standInGrants,
  model: 'demo',
  system: null,
  settings: {},
  catalog: standInCatalog,
}

export const sampleRequest: FactData['model.requested'] = {
  request: sampleDigest,
  model: 'demo',
  purpose: 'turn',
  step: 0,
  attempt: 1,
  messages: 2,
  tools: 1,
  maxOutput: 1_024,
  reserved: 1_100,
  deadline: sampleTime,
}

export interface Where {
  readonly seq: number
  readonly task?: string | null
  readonly call?: string | null
}

export function sampleFact<T extends FactType>(type: T, data: FactData[T], where: Where): FactOf<T> {
  const { seq, task = null, call = null } = where
  return {
    type,
    data,
    id: `fact-${seq}`,
    seq,
    step: seq,
    at: sampleTime,
    task,
    run: task === null ? null : `run-of-${task}`,
    call,
  }
}

/** A sample, said by its type and, in brackets, by what is special about it. */
export function sample<T extends FactType>(
  type: T,
  data: FactData[T],
  where: Where & { readonly what?: string },
): SampleEvent {
  const label = where.what === undefined ? type : `${type} (${where.what})`
  return { label, event: sampleFact(type, data, where) }
}
