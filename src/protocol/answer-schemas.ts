import { z } from 'zod'
import { factSchema } from '../facts/schemas.ts'

/*
 * What routes answer with, for the document that is made from it. They say what a client may rely on and leave room for more:
 * nothing is checked against them on the way out, but every answer is in the tests.
 */
const count = z.int().min(0)
const usage = z
  .looseObject({
    input: count,
    output: count,
    total: count,
    cached: z.exactOptional(count),
    reasoning: z.exactOptional(count),
    estimated: z.exactOptional(z.literal(true)),
  })
  .meta({ id: 'Usage' })

export const receipt = z
  .looseObject({
    result: z.enum(['applied', 'queued', 'joined', 'too_late', 'duplicate']),
    task: z.exactOptional(z.string()),
    seq: z.exactOptional(count),
    command: z.exactOptional(z.string()),
    replacement: z.exactOptional(z.string()),
    superseded: z.exactOptional(z.string()),
    reused: z.exactOptional(z.literal(true)),
  })
  .meta({ id: 'Receipt' })

export const taskCreated = z
  .looseObject({ task: z.string(), receipt, seq: z.exactOptional(count) })
  .meta({ id: 'TaskCreated' })

export const sessionEntry = z
  .looseObject({
    tenant: z.string(),
    user: z.string(),
    session: z.string(),
    state: z.enum(['open', 'closing', 'closed', 'erased']),
    title: z.exactOptional(z.string()),
    active: z.exactOptional(z.string()),
    queued: count,
    quarantined: count,
    seq: count,
    updatedAt: z.string(),
  })
  .meta({ id: 'Session' })

const outcome = z
  .looseObject({
    status: z.enum(['completed', 'failed', 'cancelled', 'superseded']),
    message: z.exactOptional(z.string()),
    messageId: z.exactOptional(z.string()),
    code: z.exactOptional(z.string()),
    reason: z.exactOptional(z.string()),
    usage,
    steps: count,
    calls: z.looseObject({
      total: count,
      failed: count,
      succeededMutating: count,
      unknownMutating: count,
      cancelled: count,
    }),
    pendingSteering: z.array(z.string()),
    seq: count,
  })
  .meta({ id: 'Outcome' })

export const task = z
  .looseObject({
    id: z.string(),
    kind: z.enum(['foreground', 'background']),
    origin: z.enum(['start', 'follow_up', 'supersede', 'spawn']),
    state: z.string(),
    status: z.exactOptional(z.string()),
    requires: z.enum(['none', 'success']),
    predecessor: z.exactOptional(z.string()),
    parent: z.exactOptional(z.string()),
    group: z.exactOptional(z.string()),
    seq: count,
    outcome: z.exactOptional(outcome),
  })
  .meta({ id: 'Task' })

export const pause = z
  .looseObject({
    token: z.string(),
    reason: z.string(),
    task: z.string(),
    call: z.exactOptional(z.string()),
    subject: z.exactOptional(z.looseObject({})),
    deadline: z.exactOptional(z.string()),
    seq: count,
  })
  .meta({ id: 'Pause' })

export const call = z
  .looseObject({
    id: z.string(),
    task: z.string(),
    name: z.string(),
    effect: z.enum(['read', 'idempotent', 'mutate']).nullable(),
    state: z.string(),
    outcome: z.exactOptional(z.string()),
    seq: count,
    arguments: z.json(),
  })
  .meta({ id: 'Call' })

export const message = z
  .looseObject({
    id: z.string(),
    seq: count,
    task: z.string(),
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    content: z.string(),
    toolCalls: z.exactOptional(z.array(z.looseObject({ id: z.string(), name: z.string(), arguments: z.json() }))),
    toolCallId: z.exactOptional(z.string()),
    synthetic: z.exactOptional(z.literal(true)),
  })
  .meta({ id: 'Message' })

/** The envelope once, and what differs by type: written out for every type it would be most of the document. */
function factAnswer(): z.ZodType {
  const shapes = factSchema().options.map((option) => option.shape)
  const [first] = shapes
  if (first === undefined) throw new RangeError('the catalogue is empty')
  const { type: _type, data: _data, ...envelope } = first
  const kinds = shapes.map(({ type, data }) => z.looseObject({ type, data }))
  return z.intersection(z.looseObject(envelope), z.union(kinds)).meta({ id: 'Fact' })
}

export const fact = factAnswer()

export const state = z
  .looseObject({
    seq: count,
    session: z.looseObject({}),
    tasks: z.array(z.looseObject({ id: z.string() })),
    calls: z.array(z.looseObject({ id: z.string() })),
    queue: z.array(z.string()),
    steering: z.array(z.string()),
    grants: z.record(z.string(), z.looseObject({})),
    context: z.looseObject({}),
    budget: z.looseObject({}),
    quarantined: z.array(z.string()),
  })
  .meta({ id: 'State' })

export const request = z
  .looseObject({
    system: z.string(),
    messages: z.array(z.looseObject({ role: z.string(), content: z.string() })),
    tools: z.array(z.looseObject({ name: z.string() })),
    maxOutput: z.int(),
    purpose: z.enum(['turn', 'summary']),
    turn: z.int(),
    step: count,
  })
  .meta({ id: 'ModelRequest' })

export const capability = z
  .looseObject({
    id: z.string(),
    kind: z.enum(['tool', 'skill']),
    name: z.string(),
    tags: z.array(z.string()),
    provider: z.string(),
    generation: count,
    revoked: z.boolean(),
    disabled: z.boolean(),
  })
  .meta({ id: 'Capability' })

export const bucket = z.looseObject({ from: z.string(), to: z.string(), count }).meta({ id: 'Bucket' })

export const patch = z.looseObject({ patch: z.string() }).meta({ id: 'Patch' })

const note = z.looseObject({ key: z.string() }).meta({ id: 'NoteEntry' })

export const notes = z.union([
  z.looseObject({ key: z.string(), scope: z.enum(['session', 'user', 'tenant']), value: z.json() }),
  z.looseObject({ items: z.array(note), next: z.exactOptional(z.string()) }),
])

export const ledgerEntry = z.looseObject({ seq: count, at: z.string(), kind: z.string() }).meta({ id: 'LedgerEntry' })

export const checkpoint = z
  .looseObject({ version: z.int(), identity: z.looseObject({ session: z.string() }) })
  .meta({ id: 'Checkpoint' })

export const done = z.looseObject({ ok: z.literal(true) }).meta({ id: 'Done' })

export function listOf(item: z.ZodType): z.ZodType {
  return z.looseObject({ items: z.array(item), next: z.exactOptional(z.union([z.string(), z.int()])) })
}
