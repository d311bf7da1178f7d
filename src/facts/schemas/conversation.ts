import { z } from 'zod'
import {
  count,
  digest,
  flag,
  freeText,
  idText,
  jsonObject,
  nameText,
  purpose,
  time,
  ulid,
  ulids,
  usage,
  whole,
} from './atoms.ts'

const budget = z.strictObject({ what: nameText, used: count, limit: count, percent: z.exactOptional(count) })
const episodeKind = z.enum(['exploration', 'action'])
const memory = z.strictObject({
  key: digest,
  scope: z.enum(['session', 'user', 'tenant']),
  digest: z.exactOptional(digest),
  decision: z.exactOptional(z.enum(['allowed', 'denied'])),
  bytes: z.exactOptional(count),
  of: z.exactOptional(
    z.strictObject({ tenant: idText, user: z.exactOptional(idText), session: z.exactOptional(idText) }),
  ),
})

const restored = z.strictObject({
  rank: count,
  episode: z.exactOptional(idText),
  observed: z.exactOptional(z.literal(true)),
  summary: z.exactOptional(count),
  note: z.exactOptional(z.strictObject({ count, kept: z.array(digest) })),
})

/** What the conversation, its context, its budget and its memory are made of. */
export const conversationSchemas = {
  'steering.queued': z.strictObject({ message: ulid, digest, bytes: count, mode: z.enum(['boundary', 'interrupt']) }),
  'steering.applied': z.strictObject({ messages: ulids, step: count }),
  'steering.inherited': z.strictObject({ messages: ulids, from: ulid }),
  'steering.expired': z.strictObject({ messages: ulids, reason: freeText }),
  'message.added': z.strictObject({
    message: ulid,
    role: z.enum(['user', 'assistant', 'tool', 'system']),
    digest,
    bytes: count,
    toolCalls: z.exactOptional(z.array(z.strictObject({ call: ulid, name: nameText }))),
    forCall: z.exactOptional(ulid),
    synthetic: z.exactOptional(z.literal(true)),
    restored: z.exactOptional(restored),
  }),
  'result.offered': z.strictObject({ from: ulid, message: ulid }),
  'context.accounted': z.strictObject({
    algorithm: nameText,
    occupancy: count,
    reserve: count,
    window: count,
    admitted: flag,
    purpose,
    used: count,
    reserved: count,
    limit: count.nullable(),
  }),
  'context.checkpoint': z.strictObject({ version: count, summary: digest, tailStart: count, throughRevision: count }),
  'context.compacted': z.strictObject({
    algorithm: nameText,
    tailStart: count,
    dropped: count,
    observed: count,
    messagesBefore: count,
    messagesAfter: count,
    bytesBefore: count,
    bytesAfter: count,
  }),
  'episode.started': z.strictObject({
    episode: idText,
    kind: episodeKind,
    basedOn: z.exactOptional(z.array(idText)),
  }),
  'episode.ended': z.strictObject({ episode: idText, kind: episodeKind, conclusion: z.exactOptional(digest) }),
  'budget.warning': budget,
  'budget.exceeded': budget,
  'model.requested': z.strictObject({
    request: digest,
    model: nameText,
    purpose,
    step: count,
    attempt: count,
    messages: count,
    tools: count,
    maxOutput: whole,
    reserved: count,
    deadline: time,
  }),
  'model.completed': z.strictObject({
    usage,
    finish: z.enum(['stop', 'calls', 'length', 'filter', 'other']),
    digest,
    calls: z.array(z.strictObject({ call: ulid, name: nameText, arguments: digest })),
    durationMs: z.number().min(0),
  }),
  'model.failed': z.strictObject({
    code: nameText,
    retryable: flag,
    attempt: count,
    retryAt: z.exactOptional(time),
    usage: z.exactOptional(usage),
    reason: z.exactOptional(freeText),
  }),
  'model.abandoned': z.strictObject({
    reason: z.enum(['cancelled', 'interrupted', 'crash', 'deadline']),
    charged: usage,
  }),
  'memory.put': memory,
  'memory.removed': memory,
  'memory.promoted': memory,
  'audit.elevated': z.strictObject({ actor: idText, surface: nameText, filter: jsonObject }),
  'audit.redaction_failed': z.strictObject({ type: nameText, field: nameText }),
}
