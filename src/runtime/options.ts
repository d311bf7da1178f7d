import type { ContextPolicy, Grant, Json, JsonObject } from '../../machines/vocabulary.ts'
import { type CapabilityProvider, ownCapabilities } from '../capabilities/capability-provider.ts'
import { type Capability, Catalog } from '../capabilities/catalog.ts'
import { FairLoop } from '../facts/fair-loop.ts'
import { type Limits, resolveLimits } from '../facts/limits.ts'
import type { Instance, Log } from '../facts/log-port.ts'
import type { Clock, Ids, Logger, Model, Random, Redactor, Scheduler } from '../facts/ports.ts'
import { thisInstance } from '../facts/processes.ts'
import type { Scope } from '../facts/scope.ts'
import { silentLogger, systemClock, systemIds, systemRandom, systemScheduler } from '../facts/system-ports.ts'
import { defaultRedactor } from '../redaction/default-redactor.ts'
import type { WorkspaceOptions } from '../workspace/open-workspace.ts'
import { checkOptions, optionRules, type Rule, refusedOption } from './check-options.ts'
import { PastWorlds } from './past-worlds.ts'
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
  readonly past: PastWorlds
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
  /** Whom everything asks that comes in many pieces at once. */
  readonly fair: FairLoop
  readonly logger: Logger
  readonly instance: Instance
}

/** `instance.id` is the `owner.id` of the facts that this runtime writes. */
export type RuntimePorts = Pick<
  Host,
  'clock' | 'scheduler' | 'background' | 'fair' | 'redactor' | 'limits' | 'logger' | 'instance'
>

/** Bytes count as tokens of the window, so the default holds some hundred pages of text. */
const defaultWindow = 400_000
const defaultReserve = 8_192

/** What is not given follows from the window: compaction begins at four fifths of it, and an eighth at most is kept for output. */
function contextOf(given: Partial<ContextPolicy>): ContextPolicy {
  const windowTokens = given.windowTokens ?? defaultWindow
  const thresholdTokens = given.thresholdTokens ?? Math.floor(windowTokens * 0.8)
  const reserveTokens = given.reserveTokens ?? Math.max(1, Math.min(defaultReserve, Math.floor(windowTokens / 8)))
  if (thresholdTokens > windowTokens)
    throw refusedOption('context.thresholdTokens', `Compaction begins within the window of ${windowTokens} tokens.`)
  return {
    ...(given.evict === undefined ? {} : { evict: given.evict }),
    ...{ windowTokens, thresholdTokens, tailMessages: given.tailMessages ?? 24, reserveTokens },
  }
}

/** Typed here, so that an option without a rule does not compile. */
const rules: Readonly<Record<keyof RuntimeOptions, Rule>> = optionRules

export function resolveHost(options: RuntimeOptions): Host {
  checkOptions(options, rules)
  const clock = options.clock ?? systemClock
  const scheduler = options.scheduler ?? systemScheduler({ clock })
  const random = options.random ?? systemRandom
  const ids = options.ids ?? systemIds(clock, random)
  const models = modelsOf(options)
  const limits = resolveLimits(options.limits ?? {})
  const logger = options.logger ?? silentLogger
  const redactor = options.redactor ?? defaultRedactor()
  checkSettings(options.settings ?? {}, redactor)
  const workspaces =
    options.workspace == null ? null : new Workspaces({ options: options.workspace, limits, log: options.log, logger })
  return {
    log: options.log,
    past: new PastWorlds(options.log),
    models,
    defaultModel: models.keys().next().value ?? '',
    summaryModel: options.summaryModel ?? null,
    system: options.system ?? '',
    settings: options.settings ?? {},
    requestTimeoutMs: options.requestTimeoutMs ?? limits.requestTimeoutMs,
    catalog: new Catalog([...(workspaces?.tools ?? []), ...ownCapabilities(options.catalog ?? [])]),
    policy: options.policy ?? null,
    memoryPolicy: options.memoryPolicy ?? null,
    workspaces,
    redactor,
    budget: options.budget == null ? null : { tokens: options.budget.tokens },
    context: checkedContext(contextOf(options.context ?? {})),
    limits,
    lowered: options.limits ?? {},
    recovery: options.recovery ?? 'resume',
    onUnknown: options.onUnknown ?? 'continue',
    clock,
    random,
    ids,
    scheduler,
    background: options.scheduler ?? systemScheduler({ clock, background: true }),
    fair: new FairLoop(clock, scheduler),
    logger,
    instance: thisInstance(ids.next()),
  }
}

function modelsOf(options: RuntimeOptions): ReadonlyMap<string, Model> {
  const models = new Map(Object.entries(options.models ?? {}))
  if (options.model != null) models.set(options.model.name, options.model)
  if (models.size === 0) throw refusedOption('model', 'Give openRuntime a model, or models by name.')
  return models
}

function checkedContext(context: ContextPolicy): ContextPolicy {
  const { reserveTokens, windowTokens } = context
  if (reserveTokens < 1 || reserveTokens >= windowTokens)
    throw refusedOption('context.reserveTokens', 'The output reserve must leave room in the window, and be at least 1.')
  return context
}
