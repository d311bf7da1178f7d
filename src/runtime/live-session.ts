import type { Actor } from '../../machines/vocabulary.ts'
import type { Owner } from '../facts/envelope.ts'
import { errorCode, LandfallError } from '../facts/errors.ts'
import type { FairLoop } from '../facts/fair-loop.ts'
import type { Scope } from '../facts/scope.ts'
import { claimSession, shuttingDown, stillOwns } from './claim-session.ts'
import type { InternalRequest, OperatorRequest, Receipt } from './command.ts'
import { sealedOrError, storedFacts } from './commit-step.ts'
import { Effects } from './effects.ts'
import { expand } from './expand.ts'
import { forwardCommand } from './forward-command.ts'
import { JobQueue } from './job-queue.ts'
import { isRefusal, planOperator } from './plan-operator.ts'
import { recoveryAgenda, runRecovery } from './recovery.ts'
import type { Services } from './services.ts'
import { baseOf, type Held, hold } from './session-hold.ts'
import { type Carried, SessionInbox } from './session-inbox.ts'
import { SessionTimer } from './session-timer.ts'
import { SnapshotKeeper } from './snapshot-keeper.ts'
import { Step, type StepInput } from './step.ts'
import { Takeover } from './takeover.ts'

/** A store without room may have it later: results of effects wait for that, operators are told. */
const retryResultMs = 1_000
const recoverer: Actor = { kind: 'runtime', id: 'recovery' }

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
  readonly #fair: FairLoop
  readonly #jobs = new JobQueue()
  readonly #timer: SessionTimer
  readonly #snapshots: SnapshotKeeper
  readonly #inbox: SessionInbox
  readonly effects: Effects
  #held: Held | null = null
  #epoch = 0
  /** What a lost owner left is settled, under this ownership. */
  #recovered = false
  readonly #takeover = new Takeover()
  #closed = false
  #gone = false

  constructor(scope: Scope, services: Services) {
    this.scope = scope
    this.#services = services
    this.#fair = services.host.fair
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

  get owns(): boolean {
    return this.#epoch > 0
  }

  /** Carries out an operator's command when its turn comes; hands it on when another process owns the session. */
  async submit(request: OperatorRequest): Promise<Receipt> {
    if (this.#closed) throw shuttingDown()
    try {
      return await this.#jobs.inTurn(() => this.#carryOut(request, null))
    } catch (error) {
      if (this.owns || errorCode(error) !== 'OWNERSHIP_LOST') throw error
      return forwardCommand(this.#services, this.scope, request, () => this.wake())
    }
  }

  carryOut(request: OperatorRequest): Promise<Receipt> {
    if (this.#gone) return Promise.reject(shuttingDown())
    return this.#jobs.inTurn(() => this.#carryOut(request, null))
  }

  /** Carries out what other processes have put into the inbox of a session that this one owns. */
  checkInbox(): void {
    if (!this.#closed && this.owns) this.#jobs.post(() => this.#inbox.carry().catch(this.#note))
  }

  /** Decides about a result of an effect, or about time that has passed. */
  post(request: InternalRequest): void {
    if (this.#gone) return
    this.#jobs.post(() => this.#follow(request))
  }

  /** Opens the session so that what a lost owner left is carried on; an idle one is left as it is. */
  async wake(): Promise<void> {
    if (this.#closed) return
    await this.#jobs.inTurn(() => this.#ready()).catch(this.#note)
  }

  readonly #note = (error: unknown): void => {
    this.#services.host.logger.warn({ code: errorCode(error) }, 'a session could not be carried on')
  }

  /** The state as it stands when everything before this read is durable; null when nothing is in memory. */
  async read<T>(look: (held: Held) => T): Promise<T | null> {
    if (this.#gone) return null
    return this.#jobs.inTurn(async () => (this.#held === null ? null : look(this.#held)))
  }

  /** No more commands, nothing new begins; results of what runs are still recorded. */
  shut(): void {
    this.#closed = true
  }

  get quiet(): boolean {
    return !this.#jobs.busy && this.effects.inFlight === 0
  }

  /** Gives the session up. What still runs is for the next owner to find, as after a crash. */
  async leave(): Promise<void> {
    this.#closed = true
    this.#gone = true
    this.#timer.clear()
    while (this.#jobs.busy) await new Promise<void>((resolve) => this.#services.host.scheduler.soon(resolve))
    this.effects.abandon()
    if (this.#epoch > 0) await this.#services.host.log.release(this.scope, this.#owner())
    this.#held = null
    this.#epoch = 0
  }

  #owner(): Owner {
    return { id: this.#services.host.instance.id, epoch: this.#epoch }
  }

  async #carryOut(request: OperatorRequest, carried: Carried | null): Promise<Receipt> {
    const input = { by: request.by, cause: request.cause ?? null, command: request.commandId }
    for (let tries = 0; ; tries += 1) {
      const { step, receipt } = await this.#plan(input, (planned) => planOperator(planned, request))
      const first = step.facts[0]
      const answer = first === undefined ? receipt : { ...receipt, seq: first.seq }
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
      const { cause, by, answer, summary } = request
      const brought = { ...(answer === undefined ? {} : { answer }), ...(summary === undefined ? {} : { summary }) }
      const input = { by, cause, command: null, ...brought }
      const { step } = await this.#plan(input, (planned) => {
        planned.run(request.agenda(planned, planned.world))
        return { step: planned }
      })
      if (step.facts.length === 0) return
      const failure = await this.#commit(step)
      if (failure !== null) this.#retry(request, failure)
    } catch (error) {
      this.#retry(request, error)
    }
  }

  /** What an effect did is not forgotten: it is offered again until the store has room, or recorded as what it became. */
  #retry(request: InternalRequest, failure: unknown): void {
    const code = errorCode(failure)
    const again = () => this.post(request)
    if (code === 'CONTROL_STALE') void this.#services.control.refresh().then(again, () => this.#later(again))
    else if (code.startsWith('STORE_')) this.#later(again)
    else if (code !== 'OWNERSHIP_LOST') {
      this.#services.host.logger.error({ code }, 'a result could not be recorded')
      if (request.otherwise !== undefined) this.post(request.otherwise)
    }
  }

  #later(work: () => void): void {
    const { scheduler, clock } = this.#services.host
    scheduler.at(clock.now() + retryResultMs, work)
  }

  /** The first effect of a new owner stands behind the facts that say so; they are known to be wanted when it is planned. */
  async #plan<T extends { readonly step: Step }>(input: StepInput, plan: (step: Step) => T): Promise<T> {
    const held = await this.#ready()
    while (this.#fair.spent) await this.#fair.turn()
    const planned = this.#guarded(() => plan(this.#step(held, input)))
    const unsaid = this.#takeover.unsaid(planned.step)
    if (unsaid === null) return planned
    this.#held = null
    const again = this.#step(await this.#ready(), input)
    return this.#guarded(() => {
      again.runAs(recoverer, this.#takeover.agenda(again.world, this.#owner(), unsaid))
      return plan(again)
    })
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
    const append = sealedOrError(step, held)
    if (append instanceof LandfallError) {
      // It has been folded all the same: the folded state is thrown away with it.
      this.#held = null
      return append
    }
    const result = await this.#services.committer.commit(append)
    while (this.#fair.spent) await this.#fair.turn()
    if (!result.ok) {
      this.#held = null
      if (result.error.code === 'OWNERSHIP_LOST') this.#lost()
      return result.error
    }
    held.moveTo(append)
    const stored = storedFacts(step, append, result.cursor)
    this.#takeover.committed(stored)
    this.#services.bus.committed(stored)
    held.settle(stored)
    this.#services.host.workspaces?.settled(this.scope, held.world)
    if (step.intents.length > 0 && !(await stillOwns(this.#services, this.scope, this.#epoch))) {
      this.#lost()
      this.#later(() => void this.wake())
      return null
    }
    for (const intent of step.intents) this.effects.perform(intent)
    this.#timer.arm(held.world)
    void this.#snapshots.keep(held)
    return null
  }

  #lost(): void {
    this.#held = null
    this.#epoch = 0
    this.effects.abandon()
    this.#timer.clear()
  }

  /** The session in memory: claimed, folded, hydrated, and carried on where a lost owner had left it. */
  async #ready(): Promise<Held> {
    if (this.#held !== null) return this.#held
    if (this.#epoch === 0) {
      this.#epoch = await claimSession(this.#services.host, this.scope)
      this.#recovered = false
    }
    const held = await hold(this.#services, this.scope)
    this.#held = held
    this.#snapshots.loaded(held.snapshot)
    this.#timer.arm(held.world)
    if (this.#recovered) return held
    this.#takeover.begin(held.world)
    const failure = await this.#recover(held)
    if (failure?.code === 'CONTROL_STALE') {
      await this.#services.control.refresh()
      return this.#ready()
    }
    if (failure !== null) throw failure
    this.#recovered = true
    await this.#inbox.carry()
    return this.#ready()
  }

  /** What one run leads to may let another go on, which is then resumed as well. */
  async #recover(found: Held, also: ReadonlySet<string> = new Set()): Promise<LandfallError | null> {
    const agenda = recoveryAgenda(found.world, { host: this.#services.host, owner: this.#owner(), also })
    if (agenda.length === 0) return null
    const step = this.#step(found, { by: recoverer, cause: null, command: null })
    this.#guarded(() => runRecovery(step, agenda))
    const unsaid = this.#takeover.unsaid(step)
    if (unsaid === null) return this.#commit(step)
    this.#held = await hold(this.#services, this.scope)
    return this.#recover(this.#held, new Set([...also, ...unsaid]))
  }
}
