import type { Owner } from '../facts/envelope.ts'
import { errorCode, LandfallError } from '../facts/errors.ts'
import type { Scope } from '../facts/scope.ts'
import { claimSession } from './claim-session.ts'
import type { InternalRequest, OperatorRequest, Receipt } from './command.ts'
import { sealedAppend, storedFacts } from './commit-step.ts'
import { Effects } from './effects.ts'
import { expand } from './expand.ts'
import { forwardCommand } from './forward-command.ts'
import { isRefusal, planOperator } from './plan-operator.ts'
import { recoveryAgenda } from './recovery.ts'
import type { Services } from './services.ts'
import { baseOf, type Held, hold } from './session-hold.ts'
import { type Carried, SessionInbox } from './session-inbox.ts'
import { SessionTimer } from './session-timer.ts'
import { SnapshotKeeper } from './snapshot-keeper.ts'
import { Step, type StepInput } from './step.ts'

type Job = () => Promise<void>

/** A store without room may have it later: results of effects wait for that, operators are told. */
const retryResultMs = 1_000

/**
 * Owns: one session that this runtime works on: its mailbox, its folded state, its effects and its timer.
 * 1. One FIFO; nothing else changes the session. One step is undurable at a time.
 * 2. Receipts, publication, effects and timers come after the step is durable, in this order.
 * 3. After a commit that failed, or a step that broke, the folded state is thrown away and read anew.
 * 4. When ownership is lost nothing more is written and nothing more is started.
 */
export class LiveSession {
  readonly scope: Scope
  readonly #services: Services
  readonly #jobs: Job[] = []
  readonly #timer: SessionTimer
  readonly #snapshots: SnapshotKeeper
  readonly #inbox: SessionInbox
  readonly effects: Effects
  #running = false
  #held: Held | null = null
  #epoch = 0
  #closed = false
  #gone = false

  constructor(scope: Scope, services: Services) {
    this.scope = scope
    this.#services = services
    this.#snapshots = new SnapshotKeeper(services.host.log, scope)
    this.#inbox = new SessionInbox(services.host, scope, {
      owner: () => (this.owns ? this.#owner() : null),
      carryOut: (request, carried) => this.#carryOut(request, carried),
    })
    this.effects = new Effects(this, services)
    this.#timer = new SessionTimer(services.host, (agenda) => this.post(agenda))
  }

  get held(): Held | null {
    return this.#held
  }

  get idle(): boolean {
    return !this.#running && this.#jobs.length === 0 && (this.#held?.isIdle() ?? true)
  }

  get owns(): boolean {
    return this.#epoch > 0
  }

  /** Carries out an operator's command when its turn comes; hands it on when another process owns the session. */
  async submit(request: OperatorRequest): Promise<Receipt> {
    if (this.#closed) throw shuttingDown()
    try {
      return await this.#inTurn(() => this.#carryOut(request, null))
    } catch (error) {
      if (this.owns || errorCode(error) !== 'OWNERSHIP_LOST') throw error
      return forwardCommand(this.#services, this.scope, request, () => this.wake())
    }
  }

  /** Carries out what other processes have put into the inbox of a session that this one owns. */
  checkInbox(): void {
    if (!this.#closed && this.owns)
      this.#enqueue(() => this.#inbox.carry().catch((error: unknown) => this.#note(error)))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#enqueue(async () => {
        try {
          resolve(await work())
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  /** Decides about a result of an effect, or about time that has passed. */
  post(request: InternalRequest): void {
    if (this.#gone) return
    this.#enqueue(() => this.#follow(request))
  }

  /** Opens the session so that what a lost owner left is carried on; an idle one is left as it is. */
  async wake(): Promise<void> {
    if (this.#closed) return
    await this.#inTurn(() => this.#ready()).catch((error: unknown) => this.#note(error))
  }

  #note(error: unknown): void {
    this.#services.host.logger.warn({ code: errorCode(error) }, 'a session could not be carried on')
  }

  /** The state as it stands when everything before this read is durable; null when nothing is in memory. */
  async read<T>(look: (held: Held) => T): Promise<T | null> {
    if (this.#gone) return null
    return this.#inTurn(async () => (this.#held === null ? null : look(this.#held)))
  }

  /** No more commands, nothing new begins; results of what runs are still recorded. */
  shut(): void {
    this.#closed = true
  }

  get quiet(): boolean {
    return !this.#running && this.effects.inFlight === 0
  }

  /** Gives the session up. What still runs is for the next owner to find, as after a crash. */
  async leave(): Promise<void> {
    this.#closed = true
    this.#gone = true
    this.#timer.clear()
    while (this.#running) await new Promise<void>((resolve) => this.#services.host.scheduler.soon(resolve))
    this.effects.abandon()
    if (this.#epoch > 0) await this.#services.host.log.release(this.scope, this.#owner())
    this.#held = null
    this.#epoch = 0
  }

  #owner(): Owner {
    return { id: this.#services.host.instance.id, epoch: this.#epoch }
  }

  #enqueue(job: Job): void {
    this.#jobs.push(job)
    if (this.#running) return
    this.#running = true
    void this.#drain()
  }

  async #drain(): Promise<void> {
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) await job()
    this.#running = false
  }

  async #carryOut(request: OperatorRequest, carried: Carried | null): Promise<Receipt> {
    for (let tries = 0; ; tries += 1) {
      const held = await this.#ready()
      const { step, receipt } = this.#guarded(() => planOperator(this.#step(held, inputOf(request)), request))
      const answer = step.facts.length === 0 ? receipt : { ...receipt, seq: held.head.seq + 1 }
      if (carried !== null) step.answers.push({ id: carried.id, answer: JSON.stringify({ receipt: answer }) })
      if (step.facts.length === 0) return answer
      const failure = await this.#commit(step)
      if (failure === null) {
        if (carried !== null) carried.settled = true
        return answer
      }
      if (failure.code !== 'CONTROL_STALE' || tries > 2) throw failure
      await this.#services.control.refresh()
    }
  }

  async #follow(request: InternalRequest): Promise<void> {
    try {
      const held = await this.#ready()
      const { cause, by, answer } = request
      const step = this.#step(held, {
        by,
        cause,
        command: null,
        ...(answer === undefined ? {} : { answer }),
      })
      this.#guarded(() => step.run(request.agenda(step, held.world)))
      if (step.facts.length === 0) return
      const failure = await this.#commit(step)
      if (failure !== null) this.#retry(request, failure)
    } catch (error) {
      this.#services.host.logger.error({ code: errorCode(error) }, 'a result could not be recorded')
      if (errorCode(error) !== 'OWNERSHIP_LOST') this.#retry(request, error)
    }
  }

  /** What an effect did is not forgotten because the store is full: it is offered again until it is recorded. */
  #retry(request: InternalRequest, failure: unknown): void {
    const code = errorCode(failure)
    const { host } = this.#services
    if (code === 'CONTROL_STALE') {
      void this.#services.control.refresh().then(() => this.post(request))
      return
    }
    if (!['STORE_FULL', 'STORE_BUSY', 'STORE_READONLY'].includes(code)) return
    host.scheduler.at(host.clock.now() + retryResultMs, () => this.post(request))
  }

  #step(held: Held, input: StepInput): Step {
    const { host, control } = this.#services
    const received = (task: string) => this.effects.received(task)
    const session = { scope: this.scope, owner: this.#owner(), closing: this.#closed, received }
    return new Step(baseOf(held, { host, control, expand, ...session }), input)
  }

  /** A step that breaks in the middle has changed the folded state; that state is of no use any more. */
  #guarded<T>(plan: () => T): T {
    try {
      return plan()
    } catch (error) {
      if (!(error instanceof LandfallError) || !isRefusal(error)) this.#held = null
      throw error
    }
  }

  async #commit(step: Step): Promise<LandfallError | null> {
    const held = this.#held
    if (held === null) return new LandfallError('INTERNAL', 'A step without its session. Report this as a bug.')
    const append = sealedAppend(step, held)
    const result = await this.#services.committer.commit(append)
    if (!result.ok) {
      this.#failed(result.error)
      return result.error
    }
    held.moveTo(append)
    const stored = storedFacts(step, append, result.cursor)
    this.#services.bus.committed(stored)
    held.settle(stored)
    if (step.intents.length > 0 && !(await this.#stillOwns())) {
      this.#lost()
      this.#services.host.scheduler.at(this.#services.host.clock.now() + retryResultMs, () => void this.wake())
      return null
    }
    for (const intent of step.intents) this.effects.perform(intent)
    this.#timer.arm(held.world)
    void this.#snapshots.keep(held)
    return null
  }

  /** A process that slept past its lease asks whether the session is still its own before it does what the step asks for. */
  async #stillOwns(): Promise<boolean> {
    const { host, lease } = this.#services
    if (host.clock.now() < lease.until) return true
    try {
      await lease.renew()
      const claim = await host.log.claim(this.scope, host.instance)
      return claim.claimed && claim.epoch === this.#epoch && host.clock.now() < lease.until
    } catch (error) {
      host.logger.warn({ code: errorCode(error) }, 'the lease of a session could not be confirmed')
      return false
    }
  }

  #lost(): void {
    this.#held = null
    this.#epoch = 0
    this.effects.abandon()
    this.#timer.clear()
  }

  #failed(error: LandfallError): void {
    this.#held = null
    if (error.code === 'OWNERSHIP_LOST') this.#lost()
  }

  /** The session in memory: claimed, folded, hydrated, and carried on where a lost owner had left it. */
  async #ready(): Promise<Held> {
    if (this.#held !== null) return this.#held
    const first = this.#epoch === 0
    if (first) this.#epoch = await claimSession(this.#services.host, this.scope)
    const held = await hold(this.#services, this.scope)
    this.#held = held
    this.#snapshots.loaded(held.snapshot)
    this.#timer.arm(held.world)
    if (!first) return held
    const agenda = recoveryAgenda(held.world, this.#services.host, this.#owner())
    if (agenda.length > 0) {
      const step = this.#step(held, { by: { kind: 'runtime', id: 'recovery' }, cause: null, command: null })
      this.#guarded(() => step.run(agenda))
      const failure = await this.#commit(step)
      if (failure !== null) throw failure
    }
    await this.#inbox.carry()
    return this.#ready()
  }
}

function inputOf(request: OperatorRequest): StepInput {
  return { by: request.by, cause: null, command: request.commandId }
}

function shuttingDown(): LandfallError {
  return new LandfallError('SHUTTING_DOWN', 'This runtime is closing. Open another one.', { retryable: true })
}
