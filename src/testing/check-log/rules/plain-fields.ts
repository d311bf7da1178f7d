import { bounds } from '../bounds.ts'
import type { Judged, Rule } from '../rule.ts'

const freeText = ['reason', 'title', 'note'] as const
const digest = /^hmac-sha256:[0-9a-f]+$/

/** Which fields of `data` hold a digest of raw content (page 6, Catalogue). */
const digests: Readonly<Record<string, readonly string[]>> = {
  'command.accepted': ['body'],
  'task.created': ['input', 'request', 'system', 'attachments'],
  'task.input_replaced': ['input', 'request', 'system'],
  'task.started': ['system', 'handoff'],
  'steering.queued': ['digest'],
  'message.added': ['digest'],
  'context.checkpoint': ['summary'],
  'episode.ended': ['conclusion'],
  'model.requested': ['request'],
  'model.completed': ['digest'],
  'capability.loaded': ['content'],
  'capability.activated': ['content'],
  'call.requested': ['arguments'],
  'call.finished': ['digest', 'tree'],
  'call.verified': ['digest'],
  'call.late': ['digest'],
  'pause.settled': ['input'],
  'memory.put': ['key', 'digest'],
  'memory.removed': ['key', 'digest'],
  'memory.promoted': ['key', 'digest'],
}

/** INV-12: a fact holds names, counts, states and digests; its few free-text fields are ≤ 200 characters (page 1, law 5). */
function noContent({ fact, report }: Judged): void {
  const data = fact.data as Readonly<Record<string, unknown>>
  for (const field of freeText) {
    const text = data[field]
    if (typeof text === 'string' && [...text].length > bounds.freeTextCharacters) {
      report('INV-12', `${fact.type}: ${field} is longer than ${bounds.freeTextCharacters} characters`)
    }
  }
  for (const field of digests[fact.type] ?? []) {
    const value = data[field]
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each === undefined || each === null) continue
      if (typeof each !== 'string' || !digest.test(each)) report('INV-12', `${fact.type}: ${field} is no digest`)
    }
  }
}

/** INV-23: queue 256 a session, steering 256 KiB a message and 1,024 pending a task, content 16 MiB a message (page 4, Limits). */
function queues({ view, fact, report }: Judged): void {
  if (
    fact.type === 'task.created' &&
    fact.data.origin === 'follow_up' &&
    view.queue.length >= bounds.queuedPerSession
  ) {
    report('INV-23', `more than ${bounds.queuedPerSession} queued tasks`)
  }
  if (fact.type === 'message.added' && fact.data.bytes > bounds.messageBytes) report('INV-23', 'a message is too large')
  if (fact.type !== 'steering.queued') return
  if (fact.data.bytes > bounds.steeringBytes) report('INV-23', 'a steering message is too large')
  const pending = view.steering.filter((steer) => steer.owner === fact.task).length
  if (pending >= bounds.pendingSteeringPerTask) report('INV-23', 'too much steering is pending')
}

export const plainFieldsRule: Rule = {
  fact(judged) {
    noContent(judged)
    queues(judged)
  },
}
