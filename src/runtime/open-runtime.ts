import { createBus } from '../bus/bus.ts'
import type { EventStream } from '../bus/event-stream.ts'
import type { EventsOptions } from '../bus/interest.ts'
import { type Scope, scopeKey } from '../facts/scope.ts'
import { ActorSystem, type RootActorRef } from './actors/actor-system.ts'
import { checkedScope } from './checked-scope.ts'
import { type RestoreOptions, restorable, restoreCheckpoint } from './checkpoint/restore-checkpoint.ts'
import { shuttingDown } from './claim-session.ts'
import { Committer } from './committer.ts'
import { ControlStream } from './control-stream.ts'
import type { Ended } from './ended.ts'
import { givenOptions } from './given-options.ts'
import { listSessions, type SessionEntry, type SessionsFilter } from './list-sessions.ts'
import { LiveSession } from './live-session.ts'
import { type Host, type RuntimeOptions, type RuntimePorts, resolveHost } from './options.ts'
import { Providers } from './providers.ts'
import type { Services } from './services.ts'
import { Session } from './session.ts'
import { StoreControl } from './store-control.ts'
import { StoreReads } from './store-reads.ts'

const headsPerPage = 500
const closePollMs = 5
/** Notices of the store are gathered for this long. */
const lookMs = 20

/** Opens a runtime on a log. Sessions that a lost owner left unfinished are claimed and carried on in the background. */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { host, providers } = await Providers.bind(resolveHost(options), options.catalog ?? [])
  const runtime = new Runtime(host, providers)
  try {
    await runtime.begin()
  } catch (error) {
    await providers?.close()
    throw error
  }
  return runtime
}

/**
 * Owns: the live sessions of this process on one store, the lease they stand under, and what they share.
 * 1. Two runtimes share nothing, also in one process and on one file; the log decides who owns what.
 * 2. One instance, one lease; it is renewed long before it ends, and what ended starts nothing.
 * 3. What another owner left behind is taken over when this runtime opens, and looked for again with every renewal.
 */
export class Runtime {
  readonly #host: Host
  readonly #services: Services
  readonly #live = new Map<string, LiveSession>()
  readonly #waiting = new Map<string, ((ended: Ended | null) => void)[]>()
  readonly #lease = { until: 0, renew: () => this.#renew() }
  readonly #control: ControlStream
  #stopWatching: () => void = () => {}
  #looking = false
  #recovering = false
  #stopRenewing: () => void = () => {}
  #closing: Promise<void> | null = null
  #actors: ActorSystem | null = null
  readonly #providers: Providers | null

  constructor(host: Host, providers: Providers | null) {
    this.#host = host
    this.#providers = providers
    const { log, scheduler, limits, clock, fair } = host
    this.#control = new ControlStream(host)
    this.catalog = new StoreControl(host, this.#control)
    this.#services = {
      host,
      committer: new Committer(log, { scheduler, fair }, limits.batchFacts),
      bus: createBus({ log, scheduler, limits, clock, fair }),
      control: this.#control,
      lease: this.#lease,
      isClosing: () => this.#closing !== null,
      onLost: (scope) => this.#lost(scope),
      onEnd: (scope, ended) => this.#ended(scope, ended),
    }
    this.reads = new StoreReads(this.#services)
  }

  async begin(): Promise<void> {
    await this.#renew()
    await this.#control.refresh()
    this.#stopWatching = this.#host.log.watch(() => this.#lookSoon())
    void this.#recover()
    void this.#host.workspaces?.sweep()
  }

  session(scope: Scope): Session {
    const checked = checkedScope(this.#host.redactor, scope)
    const handle: Session = new Session(checked, this.#services, {
      live: () => this.#liveSession(checked),
      known: () => this.#live.get(scopeKey(checked)) ?? null,
      ended: (task) => this.#whenEnded(checked, task),
      actors: () => this.#actorSystem().session(checked, handle),
    })
    return handle
  }

  /** Root of this runtime's XState actor system: `actor.system` finds actors by id and takes inspectors. */
  get actor(): RootActorRef {
    return this.#actorSystem().root
  }

  /** Goes on with a session that rested when the checkpoint was taken, elsewhere; one that has a history of its own takes none. */
  async restore(checkpoint: unknown, options: RestoreOptions = {}): Promise<Session> {
    const found = restorable(this.#services, checkpoint, givenOptions(options))
    const { elevated } = options
    await restoreCheckpoint(this.#services, this.#liveSession(found.scope), {
      ...found,
      ...(elevated === undefined ? {} : { elevated }),
    })
    return this.session(found.scope)
  }

  /** Revocations and disabled providers of the whole store. */
  readonly catalog: StoreControl

  /** Reads of the store as a whole, for a server. */
  readonly reads: StoreReads

  /** The traceparent that a task of a session in memory was created with. */
  inboundTrace(scope: Scope, task: string): string | undefined {
    return this.#live.get(scopeKey(scope))?.held?.world.taskRecords.get(task)?.created.traceparent
  }

  /** The ports and bounds that this runtime works with; whoever serves it uses the same. */
  get ports(): RuntimePorts {
    const { clock, scheduler, background, fair, redactor, limits, logger, instance } = this.#host
    return { clock, scheduler, background, fair, redactor, limits, logger, instance }
  }

  /** Sessions of one user. A wider listing needs an elevated claim, and each use of one is recorded, also when it finds nothing. */
  sessions(filter: SessionsFilter): Promise<readonly SessionEntry[]> {
    return listSessions(this.#host, this.#control, filter)
  }

  events(scope: Scope, options: EventsOptions = {}): EventStream {
    const stream = this.#services.bus.events(scope, givenOptions(options))
    checkedScope(this.#host.redactor, scope)
    return stream
  }

  /** Starts nothing more, waits for results up to the grace, records them and lets go of every session. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { clock, scheduler, limits } = this.#host
    this.#stopRenewing()
    this.#stopWatching()
    const sessions = [...this.#live.values()]
    for (const live of sessions) live.shut()
    const until = clock.now() + limits.graceMs
    while (sessions.some((live) => !live.quiet) && clock.now() < until)
      await new Promise<void>((resolve) => void scheduler.at(clock.now() + closePollMs, resolve))
    for (const live of sessions) await live.leave()
    await this.#services.committer.drained()
    await this.#host.workspaces?.close()
    for (const waiting of this.#waiting.values()) for (const resolve of waiting) resolve(null)
    this.#waiting.clear()
    this.#actors?.close()
    await this.#providers?.close()
    this.#services.bus.close('closed')
    this.#live.clear()
  }

  #actorSystem(): ActorSystem {
    if (this.#actors === null && this.#closing !== null) throw shuttingDown()
    this.#actors ??= new ActorSystem(this.#host, this.#services.bus)
    return this.#actors
  }

  #liveSession(scope: Scope): LiveSession {
    if (this.#closing !== null) throw shuttingDown()
    const key = scopeKey(scope)
    let live = this.#live.get(key)
    if (live === undefined) {
      live = new LiveSession(scope, this.#services)
      this.#live.set(key, live)
    }
    return live
  }

  #whenEnded(scope: Scope, task: string): { promise: Promise<Ended | null>; cancel: () => void } {
    const key = `${scopeKey(scope)}\u0000${task}`
    const waiting = this.#waiting.get(key) ?? []
    this.#waiting.set(key, waiting)
    let done: (ended: Ended | null) => void = () => {}
    const promise = new Promise<Ended | null>((resolve) => {
      done = resolve
      waiting.push(resolve)
    })
    const cancel = () => {
      const at = waiting.indexOf(done)
      if (at >= 0) waiting.splice(at, 1)
      if (waiting.length === 0) this.#waiting.delete(key)
    }
    return { promise, cancel }
  }

  #lost(scope: Scope): void {
    const prefix = `${scopeKey(scope)}\u0000`
    for (const [key, waiting] of this.#waiting) {
      if (!key.startsWith(prefix)) continue
      this.#waiting.delete(key)
      for (const resolve of waiting) resolve(null)
    }
  }

  #ended(scope: Scope, ended: Ended): void {
    const key = `${scopeKey(scope)}\u0000${ended.task}`
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) return
    this.#waiting.delete(key)
    for (const resolve of waiting) resolve(ended)
  }

  /** Somebody has written to the store: perhaps to the control stream, or into an inbox. One look serves many notices. */
  #lookSoon(): void {
    if (this.#looking || this.#closing !== null) return
    this.#looking = true
    const { clock, scheduler } = this.#host
    scheduler.at(clock.now() + lookMs, () => {
      this.#looking = false
      void this.#look()
    })
  }

  async #look(): Promise<void> {
    if (this.#closing !== null) return
    try {
      const { log } = this.#host
      if ((await log.controlVersion()) > this.#control.version) await this.#control.refresh()
      for (const scope of await log.pendingInbox(headsPerPage)) this.#live.get(scopeKey(scope))?.checkInbox()
    } catch {
      this.#host.logger.warn({}, 'the store could not be looked at')
    }
  }

  async #renew(): Promise<void> {
    const { clock, limits, log, instance, logger, background } = this.#host
    const asked = clock.now()
    try {
      await log.renew(instance)
      this.#lease.until = asked + limits.leaseMs
    } catch {
      logger.warn({}, 'the lease could not be renewed')
    }
    if (this.#closing !== null) return
    this.#stopRenewing()
    this.#stopRenewing = background.at(clock.now() + limits.leaseMs / 3, () => {
      void this.#renew()
      void this.#recover()
    })
  }

  /** Whatever no living owner looks after: sessions with unfinished work, and commands that wait in an inbox. */
  async #recover(): Promise<void> {
    if (this.#recovering) return
    this.#recovering = true
    try {
      await this.#recoverUnfinished()
      for (const scope of await this.#host.log.pendingInbox(headsPerPage)) {
        if (this.#closing !== null) return
        const live = this.#liveSession(scope)
        if (!live.owns) await live.wake()
      }
    } catch {
      this.#host.logger.error({}, 'what was left behind could not be listed')
    } finally {
      this.#recovering = false
    }
  }

  async #recoverUnfinished(): Promise<void> {
    let after: Scope | undefined
    for (;;) {
      const page = await this.#host.log.heads({
        orphaned: true,
        limit: headsPerPage,
        ...(after === undefined ? {} : { after }),
      })
      for (const head of page) {
        if (this.#closing !== null) return
        await this.#liveSession(head.scope).wake()
      }
      after = page.at(-1)?.scope
      if (page.length < headsPerPage) return
    }
  }
}
