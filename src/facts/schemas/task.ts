import { z } from 'zod'
import { traceparentForm } from '../trace-context.ts'
import {
  awaitResult,
  capabilityRef,
  count,
  digest,
  flag,
  freeText,
  grants,
  idText,
  jsonObject,
  nameText,
  numbers,
  ratio,
  status,
  time,
  ulid,
  ulids,
  usage,
} from './atoms.ts'

const pauseReason = z.enum(['approval', 'authorization', 'input', 'operator', 'external', 'acknowledgement'])

const taskInput = {
  input: digest,
  bytes: count,
  request: digest,
  model: z.exactOptional(nameText),
  system: z.exactOptional(digest),
  settings: z.exactOptional(jsonObject),
  grants: z.exactOptional(grants),
  skills: z.exactOptional(z.array(nameText)),
  watermark: count,
}

const terminal = z.strictObject({
  messageId: z.exactOptional(ulid),
  code: z.exactOptional(nameText),
  reason: z.exactOptional(freeText),
  replacement: z.exactOptional(ulid),
  usage,
  steps: count,
  calls: z.strictObject({
    total: count,
    failed: count,
    succeededMutating: count,
    unknownMutating: count,
    cancelled: count,
  }),
  pendingSteering: ulids,
})

const group = z.strictObject({
  group: ulid,
  members: z.exactOptional(ulids),
  failFast: z.exactOptional(flag),
  results: z.exactOptional(z.array(awaitResult)),
})

export const taskSchemas = {
  'task.created': z.strictObject({
    ...taskInput,
    kind: z.enum(['foreground', 'background']),
    origin: z.enum(['start', 'follow_up', 'supersede', 'spawn']),
    attachments: z.exactOptional(z.array(digest)),
    requires: z.enum(['none', 'success']),
    predecessor: z.exactOptional(ulid),
    replaces: z.exactOptional(ulid),
    parent: z.exactOptional(ulid),
    propagate: z.exactOptional(z.enum(['cascade', 'isolate'])),
    group: z.exactOptional(ulid),
    idempotencyKey: z.exactOptional(idText),
    limits: z.exactOptional(numbers),
    traceparent: z.exactOptional(z.string().regex(traceparentForm)),
  }),
  'task.blocked': z.strictObject({ predecessor: ulid, status }),
  'task.unblocked': z.strictObject({}),
  'task.input_replaced': z.strictObject(taskInput),
  'task.started': z.strictObject({
    generation: count,
    control: count,
    capabilities: z.array(capabilityRef),
    grants,
    model: nameText,
    system: digest.nullable(),
    settings: jsonObject,
    catalog: z.exactOptional(digest),
    handoff: z.exactOptional(digest),
    deadline: z.exactOptional(time),
  }),
  'run.resumed': z.strictObject({ attempt: count, reason: z.enum(['crash', 'takeover']) }),
  'task.awaiting': z.strictObject({
    forCall: z.exactOptional(ulid),
    tasks: z.exactOptional(ulids),
    group: z.exactOptional(ulid),
    deadline: z.exactOptional(time),
  }),
  'task.await_settled': z.strictObject({
    how: z.enum(['done', 'deadline', 'interrupted', 'cancelled']),
    results: z.array(awaitResult),
  }),
  'task.progress': z.strictObject({
    fraction: ratio,
    phase: z.exactOptional(freeText),
    note: z.exactOptional(freeText),
  }),
  'task.cancelling': z.strictObject({
    status: z.enum(['failed', 'cancelled', 'superseded']),
    reason: freeText,
    code: z.exactOptional(nameText),
    graceUntil: time,
    steering: z.enum(['inherit', 'expire']),
    replacement: z.exactOptional(ulid),
    cascadedFrom: z.exactOptional(ulid),
  }),
  'task.quiescing': z.strictObject({ calls: ulids }),
  'task.paused': z.strictObject({ reasons: z.array(pauseReason) }),
  'task.resumed': z.strictObject({ deadline: z.exactOptional(time) }),
  'task.completed': terminal,
  'task.failed': terminal,
  'task.cancelled': terminal,
  'task.superseded': terminal,
  'pause.requested': z.strictObject({
    token: idText,
    reason: pauseReason,
    deadline: z.exactOptional(time),
    subject: z.exactOptional(z.string()),
  }),
  'pause.settled': z.strictObject({
    token: idText,
    decision: z.enum(['approve', 'reject', 'resume', 'timeout', 'withdrawn']),
    input: z.exactOptional(digest),
  }),
  'group.created': group,
  'group.sealed': group,
  'group.resolved': group,
  'group.cancelled': group,
}
