import { z } from 'zod'
import {
  count,
  flag,
  freeText,
  grants,
  idText,
  json,
  jsonObject,
  nameText,
  numbers,
  purpose,
  status,
  time,
  ulid,
  usage,
} from '../../facts/schemas/atoms.ts'

export const checkpointVersion = 1

const episodeKind = z.enum(['exploration', 'action'])
const toolCall = z.strictObject({ id: ulid, name: nameText, arguments: jsonObject })

const message = z.strictObject({
  id: ulid,
  role: z.enum(['user', 'assistant', 'tool', 'system']),
  content: z.string(),
  toolCalls: z.exactOptional(z.array(toolCall).min(1)),
  forCall: z.exactOptional(ulid),
  synthetic: z.exactOptional(z.literal(true)),
})

/** What the next requests show, in order: messages by their ids, and what stands for those that are left out. */
const entry = z.union([
  z.strictObject({
    message: ulid,
    rank: z.int().min(0).max(6),
    episode: z.exactOptional(idText),
    observed: z.exactOptional(z.literal(true)),
  }),
  z.strictObject({ summary: z.strictObject({ version: z.int().min(1), text: z.string().min(1) }) }),
  z.strictObject({ note: z.strictObject({ count: z.int().min(1), quotes: z.array(z.string()).min(1).max(8) }) }),
])

const request = z.strictObject({
  system: z.string(),
  messages: z.array(
    z.strictObject({
      role: z.enum(['system', 'user', 'assistant', 'tool']),
      content: z.string(),
      toolCalls: z.exactOptional(z.array(z.strictObject({ id: idText, name: nameText, arguments: json }))),
      toolCallId: z.exactOptional(z.string()),
    }),
  ),
  tools: z.array(z.strictObject({ name: nameText, description: z.string(), inputSchema: json })),
  maxOutput: z.int(),
  settings: jsonObject,
  purpose,
  turn: z.int().min(-1),
  step: count,
  inputAt: z.exactOptional(count),
})

const phases = [
  'new',
  'finished',
  'queued',
  'boundary',
  'model',
  'summary',
  'acting',
  'awaiting',
  'paused',
  'cancelling',
  'quiescing',
] as const

/** A session as one portable document. Every field is always there, so that none is lost without a trace. */
export const checkpointSchema = z.strictObject({
  kind: z.literal('landfall.checkpoint'),
  version: z.literal(checkpointVersion),
  /** `sha256:<hex>` over the canonical JSON of everything else: finds damage, and is no signature. */
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  identity: z.strictObject({
    tenant: idText,
    user: idText,
    session: idText,
    title: freeText.nullable(),
    task: ulid.nullable(),
    run: ulid.nullable(),
    phase: z.enum(phases),
    /** Foreground tasks started so far. */
    turns: count,
  }),
  history: z.strictObject({
    /** seq of the newest fact, and the hash of its step. */
    revision: z.int().min(1),
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    /** What the view rests on, whole. */
    messages: z.array(message),
  }),
  model: nameText,
  system: z.string().nullable(),
  settings: z.strictObject({ limits: numbers, turn: jsonObject.nullable() }),
  accounting: z.strictObject({ usage, used: count, reserved: count }),
  control: z.strictObject({
    seenCalls: z.array(ulid),
    grants,
    warnings: z.array(count),
    steering: z.array(z.strictObject({ id: ulid, content: z.string() })),
    quarantine: z.array(ulid),
    queue: z.array(
      z.strictObject({ task: ulid, input: z.string(), requires: z.enum(['none', 'success']), blocked: flag }),
    ),
    pauses: z.array(z.strictObject({ reason: nameText, task: ulid, call: ulid.nullable(), deadline: time.nullable() })),
    background: z.array(ulid),
  }),
  context: z.strictObject({
    view: z.array(entry),
    episodes: z.array(
      z.strictObject({ id: idText, kind: episodeKind, basedOn: z.array(idText), concludedBy: ulid.nullable() }),
    ),
    policy: z.strictObject({
      windowTokens: count,
      thresholdTokens: count,
      tailMessages: count,
      reserveTokens: count,
      evict: z.exactOptional(flag),
    }),
    budget: z.strictObject({ tokens: z.int().min(1) }).nullable(),
  }),
  memory: z.array(z.strictObject({ key: z.string().min(1), value: json })),
  next: z.union([
    z.strictObject({ request }),
    z.strictObject({ terminal: z.strictObject({ task: ulid, status }) }),
    z.strictObject({ nothing: z.literal(true) }),
  ]),
})

export type Checkpoint = z.output<typeof checkpointSchema>
export type CheckpointMessage = Checkpoint['history']['messages'][number]
export type CheckpointEntry = Checkpoint['context']['view'][number]
