import { LandfallError } from './errors.ts'

/*
 * Every bound of Landfall, with its unit in the name. Hosts may lower any of them; only those listed in `hostMayRaise` may be
 * raised. Beyond a bound there is a typed error, never a truncation.
 */
const kib = 1024
const mib = 1024 * kib
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

export const limits = {
  // Time
  graceMs: 10_000,
  leaseMs: 15_000,
  batchWaitMs: 10,
  requestTimeoutMs: minuteMs,
  verifyMs: 5_000,
  progressMs: 1_000,
  processTimeoutMs: 30_000,
  deadlineMs: 3_653 * dayMs,
  // Sessions and tasks
  steeringBytes: 256 * kib,
  pendingSteeringPerTask: 1_024,
  queuedPerSession: 256,
  parallelCalls: 16,
  callsPerTurn: 128,
  stepsPerTurn: 64,
  turnMs: dayMs,
  childDepth: 8,
  livingChildrenPerSession: 64,
  openPausesPerSession: 64,
  // Facts and content
  factBytes: 64 * kib,
  contentBytes: 16 * mib,
  messagesPerSession: 10_000,
  batchFacts: 1_024,
  factsPerStep: 1_024,
  idChars: 128,
  freeTextChars: 200,
  // Models and context
  modelRequestBytes: 16 * mib,
  modelAttempts: 4,
  /** The longest wait that a provider may ask for; beyond it the turn ends, and says how long was asked. */
  retryAfterMs: 10 * minuteMs,
  callAttempts: 4,
  toolTranscriptBytesPerTurn: 16 * mib,
  admissionMarginTokens: 512,
  observationReadBytes: 8 * kib,
  checkpointBytes: 16 * mib,
  checkpointDepth: 512,
  // Notes of one session, user or tenant
  memoryKeyChars: 256,
  memoryValueBytes: 16 * kib,
  memoryItems: 256,
  // Capabilities
  descriptionChars: 2_000,
  skillBytes: 256 * kib,
  skillFolderItems: 1_000,
  capabilityPageItems: 20,
  capabilityPageMaxItems: 100,
  mcpMessageBytes: 4 * mib,
  mcpToolItems: 512,
  mcpSchemaBytes: 64 * kib,
  /** For reading all schemas of a server, and for checking one value by one of them. */
  mcpSchemasMs: 5_000,
  mcpSchemaCheckMs: 250,
  // Workspace and native tools
  writeBytes: 128 * kib,
  outputBytes: 128 * kib,
  argvItems: 128,
  argvBytes: 64 * kib,
  pathChars: 4_096,
  workspaceFileBytes: mib,
  workspaceTreeBytes: 8 * mib,
  workspaceFiles: 2_000,
  sandboxMemoryBytes: 512 * mib,
  sandboxProcesses: 256,
  sandboxDiskBytes: 64 * mib,
  sandboxCpuMs: minuteMs,
  // Bus and protocol
  subscriberBufferEvents: 256,
  httpSubscribersPerSession: 16,
  subscribersPerSession: 1_024,
  httpBodyBytes: mib,
  httpHeaderBytes: 16 * kib,
  httpRequestsInFlight: 256,
  httpStreamsInFlight: 4_096,
  httpWaitMs: 5 * minuteMs,
  httpJsonDepth: 64,
  sseKeepAliveMs: 15_000,
  sseRetryMs: 2_000,
  pageItems: 100,
  pageMaxItems: 1_000,
} as const

export type LimitName = keyof typeof limits
export type Limits = { readonly [K in LimitName]: number }

/** Grace goes either way; the others are named as defaults in the first place. */
export const hostMayRaise: ReadonlySet<LimitName> = new Set([
  'graceMs',
  'requestTimeoutMs',
  'verifyMs',
  'httpSubscribersPerSession',
  'workspaceFileBytes',
  'workspaceTreeBytes',
  'workspaceFiles',
  'sandboxMemoryBytes',
  'sandboxProcesses',
  'sandboxDiskBytes',
])

/** Bounds that mean something at 0: no grace, no retry of a refusal. All others start at 1. */
const mayBeZero: ReadonlySet<LimitName> = new Set([
  'graceMs',
  'batchWaitMs',
  'retryAfterMs',
  'childDepth',
  'admissionMarginTokens',
])

/** The bounds of one runtime: the defaults with a host's overrides, each checked. */
export function resolveLimits(overrides: { readonly [name: string]: number | undefined } = {}): Limits {
  const resolved: { -readonly [K in LimitName]: number } = { ...limits }
  for (const [name, value] of Object.entries(overrides)) {
    if (value === undefined) continue
    if (!isLimitName(name))
      throw refused(name, value, `There is no limit named '${name}'. Use a name of the limits file.`)
    resolved[name] = checked(name, value)
  }
  return resolved
}

function checked(name: LimitName, value: number): number {
  const least = mayBeZero.has(name) ? 0 : 1
  if (!Number.isSafeInteger(value) || value < least) {
    throw refused(name, value, `The limit '${name}' must be a whole number of at least ${least}.`)
  }
  if (value > limits[name] && !hostMayRaise.has(name)) {
    throw refused(name, value, `The limit '${name}' may only be lowered; its bound is ${limits[name]}.`)
  }
  return value
}

export function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(limits, name)
}

function refused(name: string, got: number, message: string): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { field: `limits.${name}`, got } })
}
