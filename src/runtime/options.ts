import type { ContextPolicy, Grant, Json, JsonObject } from '../../machines/vocabulary.ts'
import { type CapabilityProvider, ownCapabilities } from '../capabilities/capability-provider.ts'
import { type Capability, Catalog } from '../capabilities/catalog.ts'
import { LandfallError } from '../facts/errors.ts'
import { type Limits, resolveLimits } from '../facts/limits.ts'
import type { Instance, Log } from '../facts/log-port.ts'
import type { Clock, Ids, Logger, Model, Random, Redactor, Scheduler } from '../facts/ports.ts'
import { thisInstance } from '../facts/processes.ts'
import type { Scope } from '../facts/scope.ts'
import { silentLogger, systemClock, systemIds, systemRandom, systemScheduler } from '../facts/system-ports.ts'
import { defaultRedactor } from '../redaction/default-redactor.ts'
import type { WorkspaceOptions } from '../workspace/open-workspace.ts'
import { checkSettings } from './turn-settings.ts'
import { Workspaces } from './workspaces.ts'

export interface PolicyQuestion {
  readonly scope: Scope
  readonly task: string
  readonly capability: string
  readonly subject?: string
}

/** Whether a note may become the user's or the tenant's, or go from there. */
export interface MemoryQuestion {
  readonly scope: Scope
  readonly action: 'promote' | 'remove'
  readonly to: 'user' | 'tenant'
  readonly key: string
  readonly value: Json
}

export type MemoryPolicy = (question: MemoryQuestion) => 'allow' | 'deny' | Promise<'allow' | 'deny'>

export type Policy = (question: PolicyQuestion) => Grant

export interface RuntimeOptions {
  readonly log: Log
  /** The one model, or several by name of which the first is the default. */
  readonly model?: Model
  readonly models?: { readonly [name: string]: Model }
  /** Writes summaries of what is older than the tail; absent: the oldest is left out instead. */
  readonly summaryModel?: Model
  readonly system?: string
  readonly settings?: JsonObject
  /** Longest silence of a model, before the first chunk and between chunks. */
  readonly requestTimeoutMs?: number
  readonly catalog?: readonly (Capability | CapabilityProvider)[]
  readonly policy?: Policy
  /** Absent: nothing leaves the memory of a session. */
  readonly memoryPolicy?: MemoryPolicy
  /** Offers the five native tools, on a workspace of each session. */
  readonly workspace?: WorkspaceOptions
  readonly redactor?: Redactor
  readonly budget?: { readonly tokens: number }
  readonly context?: Partial<ContextPolicy>
  readonly limits?: { readonly [name: string]: number }
  readonly recovery?: 'resume' | 'fail'
  readonly onUnknown?: 'continue' | 'pause'
  readonly clock?: Clock
  readonly random?: Random
  readonly ids?: Ids
  readonly scheduler?: Scheduler
  readonly logger?: Logger
}

/** The options with every default filled in and every value checked. */
export interface Host {
  readonly log: Log
  readonly models: ReadonlyMap<string, Model>
  readonly defaultModel: string
  readonly summaryModel: Model | null
  readonly system: string
  readonly settings: JsonObject
  readonly requestTimeoutMs: number
  readonly catalog: Catalog
  readonly policy: Policy | null
  readonly memoryPolicy: MemoryPolicy | null
  readonly workspaces: Workspaces | null
  readonly redactor: Redactor
  readonly budget: { readonly tokens: number } | null
  readonly context: ContextPolicy
  readonly limits: Limits
  /** Only what the host changed; what `session.opened` records. */
  readonly lowered: { readonly [name: string]: number }
  readonly recovery: 'resume' | 'fail'
  readonly onUnknown: 'continue' | 'pause'
  readonly clock: Clock
  readonly random: Random
  readonly ids: Ids
  readonly scheduler: Scheduler
  /** For what must not keep the process alive: renewing the lease. */
  readonly background: Scheduler
  readonly logger: Logger
  readonly instance: Instance
}

/** `instance.id` is the `owner.id` of the facts that this runtime writes. */
export type RuntimePorts = Pick<
  Host,
  'clock' | 'scheduler' | 'background' | 'redactor' | 'limits' | 'logger' | 'instance'
>

/** Bytes count as tokens of the window, so the default holds some hundred pages of text. */
const defaultWindow = 400_000
const defaultReserve = 8_192

/** What is not given follows from the window: compaction begins at four fifths of it, and an eighth at most is kept for output. */
function contextOf(given: Partial<ContextPolicy>): ContextPolicy {
  const windowTokens = given.windowTokens ?? defaultWindow
  return {
    ...(given.evict === undefined ? {} : { evict: given.evict }),
    windowTokens,
    thresholdTokens: given.thresholdTokens ?? Math.floor(windowTokens * 0.8),
    tailMessages: given.tailMessages ?? 24,
    reserveTokens: given.reserveTokens ?? Math.max(1, Math.min(defaultReserve, Math.floor(windowTokens / 8))),
  }
}

/** Named one by one, so that a misspelt option is refused instead of being passed over. */
const known: Readonly<Record<keyof RuntimeOptions, true>> = {
  log: true,
  model: true,
  models: true,
  summaryModel: true,
  system: true,
  settings: true,
  requestTimeoutMs: true,
  catalog: true,
  policy: true,
  memoryPolicy: true,
  workspace: true,
  redactor: true,
  budget: true,
  context: true,
  limits: true,
  recovery: true,
  onUnknown: true,
  clock: true,
  random: true,
  ids: true,
  scheduler: true,
  logger: true,
}

function checkNames(options: RuntimeOptions): void {
  if (typeof options !== 'object' || options === null) throw invalid('options', 'Give openRuntime its options.')
  for (const name of Object.keys(options))
    if (!Object.hasOwn(known, name))
      throw invalid(name, `There is no such option. Known: ${Object.keys(known).join(', ')}.`)
  if (typeof options.log?.append !== 'function')
    throw invalid('log', 'Give openRuntime a log, such as sqliteLog(file).')
}

export function resolveHost(options: RuntimeOptions): Host {
  checkNames(options)
  const clock = options.clock ?? systemClock
  const random = options.random ?? systemRandom
  const ids = options.ids ?? systemIds(clock, random)
  const models = modelsOf(options)
  const limits = resolveLimits(options.limits ?? {})
  const logger = options.logger ?? silentLogger
  const redactor = options.redactor ?? defaultRedactor()
  const workspaces =
    options.workspace === undefined
      ? null
      : new Workspaces({ options: options.workspace, limits, log: options.log, logger })
  return {
    log: options.log,
    models,
    defaultModel: models.keys().next().value ?? '',
    summaryModel: options.summaryModel ?? null,
    system: options.system ?? '',
    settings: checkedSettings(options.settings ?? {}, redactor),
    requestTimeoutMs: options.requestTimeoutMs ?? limits.requestTimeoutMs,
    catalog: new Catalog([...(workspaces?.tools ?? []), ...ownCapabilities(options.catalog ?? [])]),
    policy: options.policy ?? null,
    memoryPolicy: options.memoryPolicy ?? null,
    workspaces,
    redactor,
    budget: checkedBudget(options.budget),
    context: checkedContext(contextOf(options.context ?? {})),
    limits,
    lowered: options.limits ?? {},
    recovery: oneOf('recovery', options.recovery ?? 'resume', ['resume', 'fail']),
    onUnknown: oneOf('onUnknown', options.onUnknown ?? 'continue', ['continue', 'pause']),
    clock,
    random,
    ids,
    scheduler: options.scheduler ?? systemScheduler({ clock }),
    background: options.scheduler ?? systemScheduler({ clock, background: true }),
    logger,
    instance: thisInstance(ids.next()),
  }
}

function modelsOf(options: RuntimeOptions): ReadonlyMap<string, Model> {
  const models = new Map(Object.entries(options.models ?? {}))
  if (options.model !== undefined) models.set(options.model.name, options.model)
  if (models.size === 0) throw invalid('model', 'Give openRuntime a model, or models by name.')
  return models
}

function checkedBudget(budget: RuntimeOptions['budget']): { readonly tokens: number } | null {
  if (budget === undefined) return null
  if (!Number.isSafeInteger(budget.tokens) || budget.tokens < 1)
    throw invalid('budget.tokens', 'A budget is a whole number of tokens of at least 1.')
  return { tokens: budget.tokens }
}

function checkedContext(context: ContextPolicy): ContextPolicy {
  const { evict = true, ...numbers } = context
  if (typeof evict !== 'boolean') throw invalid('context.evict', 'Whether messages may be left out is true or false.')
  for (const [name, value] of Object.entries(numbers))
    if (!Number.isSafeInteger(value) || value < 0)
      throw invalid(`context.${name}`, 'A context bound is a whole number, not negative.')
  if (context.reserveTokens < 1)
    throw invalid('context.reserveTokens', 'The output reserve has room for an answer: at least 1.')
  if (context.reserveTokens >= context.windowTokens)
    throw invalid('context.reserveTokens', 'The output reserve must leave room in the window.')
  return context
}

function checkedSettings(settings: JsonObject, redactor: Redactor): JsonObject {
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings))
    throw invalid('settings', 'Settings are a record of named values.')
  checkSettings(settings, redactor)
  return settings
}

function oneOf<T extends string>(field: string, value: T, known: readonly T[]): T {
  if (known.includes(value)) return value
  throw invalid(field, `Use one of: ${known.join(', ')}.`)
}

function invalid(field: string, message: string): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { field } })
}
