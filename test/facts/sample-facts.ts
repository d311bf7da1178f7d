import type { FactData, FactType } from '../../machines/facts.ts'
import type { UnchainedFact } from '../../src/facts/envelope.ts'

/** ULIDs that sort by `n`. */
export function sampleId(n: number): string {
  return `01JGTEST00${n.toString().padStart(16, '0')}`
}

export const sampleDigest = `hmac-sha256:${'ab'.repeat(32)}`
const sampleTime = '2026-01-01T00:00:00.000Z'
const usage = { input: 120, output: 30, total: 150, cached: 10, estimated: true } as const
const grant = { level: 'execute', confirm: 'none' } as const
const ref = {
  id: 'tool:shop.order',
  generation: 1,
  contract: `sha256:${'0f'.repeat(32)}`,
  provider: 'host',
  binding: 1,
}
const content = { ref, scope: 'task', bytes: 10, content: sampleDigest } as const
const calls = [sampleId(31), sampleId(32)]
const terminal = {
  messageId: sampleId(40),
  usage,
  steps: 2,
  calls: { total: 1, failed: 0, succeededMutating: 1, unknownMutating: 0, cancelled: 0 },
  pendingSteering: [],
}
const settings = {
  model: 'demo',
  system: null,
  limits: { graceMs: 10_000 },
  budget: { tokens: 200_000 },
  context: { windowTokens: 65_536, thresholdTokens: 50_000, tailMessages: 8, reserveTokens: 4_096 },
}
const input = { input: sampleDigest, bytes: 12, request: sampleDigest, watermark: 1 }
const group = { group: sampleId(50), members: [sampleId(51)], failFast: true }
const memory = { key: sampleDigest, scope: 'session', digest: sampleDigest } as const
const budget = { what: 'tokens', used: 10, limit: 20, percent: 50 }

/** One valid sample of every type. */
export const sampleData: FactData = {
  'session.opened': { title: 'Shop', settings },
  'session.restored': { from: sampleDigest, turns: 2, revision: 9, usage, quarantined: calls },
  'session.owned': { owner: 'instance-1', epoch: 2 },
  'session.closing': { then: 'close', reason: 'done' },
  'session.closed': {},
  'session.reopened': { reason: 'more to do' },
  'session.erased': {},
  'settings.changed': { before: settings, after: { ...settings, budget: null } },
  'command.accepted': { command: 'cmd-1', name: 'start', body: sampleDigest, result: 'applied', target: sampleId(10) },
  'task.created': {
    ...input,
    kind: 'foreground',
    origin: 'start',
    requires: 'none',
    settings: { temperature: 0.5, stop: ['a', null], nested: { b: true } },
    grants: { 'tool:shop.order': grant },
  },
  'task.blocked': { predecessor: sampleId(10), status: 'failed' },
  'task.unblocked': {},
  'task.input_replaced': input,
  'task.started': {
    generation: 1,
    control: 0,
    capabilities: [ref],
    grants: { [ref.id]: grant },
    model: 'demo',
    system: null,
    settings: {},
  },
  'run.resumed': { attempt: 2, reason: 'crash' },
  'task.awaiting': { tasks: calls, deadline: sampleTime },
  'task.await_settled': { how: 'deadline', results: [{ task: sampleId(10), status: null, digest: null }] },
  'task.progress': { fraction: 0.5, phase: 'build', note: 'half' },
  'task.cancelling': { status: 'superseded', reason: 'replaced', graceUntil: sampleTime, steering: 'inherit' },
  'task.quiescing': { calls },
  'task.paused': { reasons: ['approval'] },
  'task.resumed': {},
  'task.completed': terminal,
  'task.failed': { ...terminal, code: 'MODEL_FAILED' },
  'task.cancelled': { ...terminal, reason: 'operator' },
  'task.superseded': { ...terminal, replacement: sampleId(11) },
  'pause.requested': { token: 'tok-1', reason: 'approval', subject: 'a/b.txt' },
  'pause.settled': { token: 'tok-1', decision: 'approve', input: sampleDigest },
  'steering.queued': { message: sampleId(12), digest: sampleDigest, bytes: 4, mode: 'boundary' },
  'steering.applied': { messages: [sampleId(12)], step: 1 },
  'steering.inherited': { messages: [sampleId(12)], from: sampleId(10) },
  'steering.expired': { messages: [sampleId(12)], reason: 'closing' },
  'message.added': {
    message: sampleId(13),
    role: 'assistant',
    digest: sampleDigest,
    bytes: 5,
    toolCalls: [{ call: sampleId(31), name: 'shop.order' }],
  },
  'result.offered': { from: sampleId(10), message: sampleId(13) },
  'context.accounted': {
    algorithm: 'utf8-upper-bound/v1',
    occupancy: 1_200,
    reserve: 4_096,
    window: 65_536,
    admitted: true,
    purpose: 'turn',
    used: 0,
    reserved: 0,
    limit: null,
  },
  'context.checkpoint': { version: 1, summary: sampleDigest, tailStart: 3, throughRevision: 9 },
  'context.compacted': {
    algorithm: 'evict/v1',
    tailStart: 3,
    dropped: 2,
    observed: 1,
    messagesBefore: 9,
    messagesAfter: 7,
    bytesBefore: 900,
    bytesAfter: 700,
  },
  'episode.started': { episode: 'e1', kind: 'exploration' },
  'episode.ended': { episode: 'e1', kind: 'exploration', conclusion: sampleDigest },
  'budget.warning': budget,
  'budget.exceeded': budget,
  'model.requested': {
    request: sampleDigest,
    model: 'demo',
    purpose: 'turn',
    step: 0,
    attempt: 1,
    messages: 3,
    tools: 5,
    maxOutput: 1_024,
    reserved: 1_324,
    deadline: sampleTime,
  },
  'model.completed': {
    usage,
    finish: 'calls',
    digest: sampleDigest,
    calls: [{ call: sampleId(31), name: 'shop.order', arguments: sampleDigest }],
    durationMs: 12,
  },
  'model.failed': { code: 'RATE_LIMITED', retryable: true, attempt: 1, retryAt: sampleTime },
  'model.abandoned': { reason: 'crash', charged: usage },
  'call.requested': {
    name: 'shop.order',
    ref,
    effect: 'mutate',
    arguments: sampleDigest,
    bytes: 20,
    batch: 0,
    index: 0,
  },
  'call.refused': { code: 'AUTHORIZATION_DENIED' },
  'call.held': { reason: 'approval', token: 'tok-1' },
  'call.started': { attempt: 1, control: 0, deadline: sampleTime },
  'call.aborting': { reason: 'cancel', graceUntil: sampleTime },
  'call.interrupted': { attempt: 1 },
  'call.finished': { outcome: 'succeeded', digest: sampleDigest, bytes: 40, durationMs: 3 },
  'call.cancelled': { when: 'before_start' },
  'call.unknown': { reason: 'grace' },
  'call.verifying': { deadline: sampleTime },
  'call.verified': { outcome: 'unknown' },
  'call.late': { outcome: 'succeeded', digest: sampleDigest },
  'mutation.quarantined': { calls },
  'mutation.acknowledged': { calls },
  'capability.loaded': content,
  'capability.activated': content,
  'capability.released': content,
  'capability.refused': { id: 'tool:shop.order', code: 'CAPABILITY_DOES_NOT_FIT', need: 1, margin: 2, ceiling: 3 },
  'capability.skipped': { id: 'skill:shop', code: 'CAPABILITY_DOES_NOT_FIT' },
  'grant.reduced': { id: 'tool:shop.order', before: grant, after: { level: 'none', confirm: 'none' } },
  'capability.revoked': { id: 'tool:shop.order' },
  'provider.disabled': { id: 'host' },
  'provider.enabled': { id: 'host' },
  'group.created': group,
  'group.sealed': group,
  'group.resolved': { ...group, results: [{ task: sampleId(51), status: 'completed', digest: sampleDigest }] },
  'group.cancelled': group,
  'memory.put': memory,
  'memory.removed': memory,
  'memory.promoted': { ...memory, decision: 'allowed' },
  'audit.elevated': { actor: 'root', surface: 'sessions', filter: { tenant: 't' } },
  'audit.redaction_failed': { type: 'session.closed', field: 'reason' },
}

/** A fact as the runtime would write it, in session t/u/s. */
export function sampleFact(type: FactType, seq: number, step: number): UnchainedFact {
  return {
    v: 1,
    id: sampleId(1_000 + seq),
    seq,
    step,
    at: sampleTime,
    tenant: 't',
    user: 'u',
    session: 's',
    task: sampleId(10),
    run: sampleId(20),
    call: type.startsWith('call.') ? sampleId(31) : null,
    type,
    data: sampleData[type],
    by: { kind: 'runtime', id: 'landfall' },
    cause: seq > 1 ? sampleId(1_000 + seq - 1) : null,
    command: null,
    owner: { id: sampleId(1), epoch: 1 },
  } as UnchainedFact
}
