import { z } from 'zod'
import { capabilityRef, count, digest, grant, idText, nameText, outcome, time, ulids } from './atoms.ts'

const capabilityContent = z.strictObject({
  ref: capabilityRef,
  scope: z.enum(['task', 'step']),
  bytes: count,
  content: digest,
})

const capabilityProblem = z.strictObject({
  id: nameText,
  code: nameText,
  need: z.exactOptional(count),
  margin: z.exactOptional(count),
  ceiling: z.exactOptional(count),
})

const named = z.strictObject({ id: nameText })

export const callSchemas = {
  'call.requested': z.strictObject({
    name: nameText,
    ref: z.exactOptional(capabilityRef),
    effect: z.exactOptional(z.enum(['read', 'idempotent', 'mutate'])),
    arguments: digest,
    bytes: count,
    batch: count,
    index: count,
    idempotencyKey: z.exactOptional(idText),
  }),
  'call.refused': z.strictObject({ code: nameText }),
  'call.held': z.strictObject({
    reason: z.enum(['approval', 'authorization', 'input', 'external', 'quarantine']),
    token: z.exactOptional(idText),
  }),
  'call.started': z.strictObject({ attempt: count, control: count, deadline: z.exactOptional(time) }),
  'call.aborting': z.strictObject({ reason: z.enum(['cancel', 'deadline']), graceUntil: time }),
  'call.interrupted': z.strictObject({ attempt: count }),
  'call.finished': z.strictObject({
    outcome,
    digest,
    bytes: count,
    code: z.exactOptional(nameText),
    durationMs: z.number().min(0),
    tree: z.exactOptional(digest),
  }),
  'call.cancelled': z.strictObject({ when: z.enum(['before_start', 'acknowledged', 'interrupted', 'withdrawn']) }),
  'call.unknown': z.strictObject({ reason: z.enum(['grace', 'crash', 'unacknowledged', 'deadline', 'transport']) }),
  'call.verifying': z.strictObject({ deadline: time }),
  'call.verified': z.strictObject({
    outcome: z.enum(['succeeded', 'failed', 'unknown']),
    digest: z.exactOptional(digest),
  }),
  'call.late': z.strictObject({ outcome, digest }),
  'mutation.quarantined': z.strictObject({ calls: ulids }),
  'mutation.acknowledged': z.strictObject({ calls: ulids }),
  'capability.loaded': capabilityContent,
  'capability.activated': capabilityContent,
  'capability.released': capabilityContent,
  'capability.refused': capabilityProblem,
  'capability.skipped': capabilityProblem,
  'grant.reduced': z.strictObject({ id: nameText, before: grant, after: grant }),
  'capability.revoked': named,
  'provider.disabled': named,
  'provider.enabled': named,
}
