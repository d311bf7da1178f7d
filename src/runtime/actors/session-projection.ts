import { type AnyActorRef, createActor, type EventObject, type Snapshot } from 'xstate'
import { type CallContext, callMachine } from '../../../machines/call.machine.ts'
import { sessionMachine } from '../../../machines/session.machine.ts'
import { initialSession, type SessionContext } from '../../../machines/session-context.ts'
import { taskMachine } from '../../../machines/task.machine.ts'
import { initialTask, type TaskContext } from '../../../machines/task-context.ts'
import type { CallSnapshot, TaskSnapshot } from '../../../machines/world.ts'
import type { Bus } from '../../bus/bus.ts'
import { positionText } from '../../bus/position.ts'
import type { StoredFact } from '../../facts/envelope.ts'
import { errorCode, LandfallError } from '../../facts/errors.ts'
import type { Scope } from '../../facts/scope.ts'
import type { Host } from '../options.ts'
import { type ActorView, doneWith, failedWith, viewOf } from './actor-view.ts'
import { callCommand, sessionCommand, taskCommand } from './event-target.ts'
import { type FollowedStep, FollowedWorld } from './followed-world.ts'
import type { OperatorPort } from './operator-event.ts'
import { type CommittedEvent, type ProjectionParts, projectionLogic, show } from './projection-logic.ts'
import { emptyOpening, emptyTask, endView, plainEvent } from './view-parts.ts'

export interface ProjectionHost {
  readonly host: Pick<Host, 'log' | 'scheduler' | 'logger'>
  readonly bus: Bus
  readonly root: AnyActorRef
}

export interface ProjectionUse {
  readonly port: OperatorPort
  readonly onRelease: () => void
  /** Its session's actor has ended by itself. */
  readonly onEnd: () => void
}

/**
 * Owns: the actors of one session: its own, those of its tasks below it, those of their calls below these.
 * 1. They show whole committed steps, read from the log: a step at a time, calls first, then tasks, then the session.
 * 2. The bus only says that there is something to read.
 * 3. An ended task or call is shown once more as ended; then its parent lets go of it.
 * 4. A task is said not to be there only by a reading that began after it was asked for.
 * 5. What cannot be followed any more fails with all its actors, and what was erased is done; whoever asks again begins anew.
 */
export class SessionProjection {
  readonly actor: AnyActorRef
  readonly #scope: Scope
  readonly #parts: ProjectionHost
  readonly #port: OperatorPort
  readonly #tasks = new Map<string, AnyActorRef>()
  readonly #calls = new Map<string, AnyActorRef>()
  /** Tasks that were asked for by id before the log said anything of them. */
  readonly #asked = new Set<string>()
  readonly #onEnd: () => void
  #followed: FollowedWorld | null = null
  #reading = false
  #due = false
  #over = false
  #unsubscribe = (): void => {}

  constructor(scope: Scope, parts: ProjectionHost, given: ProjectionUse) {
    this.#scope = scope
    this.#parts = parts
    this.#port = given.port
    const first = viewOf<SessionContext>({
      value: 'unread',
      context: initialSession(emptyOpening),
      children: {},
      seq: 0,
    })
    const { onRelease } = given
    this.#onEnd = given.onEnd
    this.actor = this.#newActor(parts.root, idOf(scope), {
      config: sessionMachine.config,
      first,
      command: sessionCommand,
      onRelease,
    })
    void this.#open()
  }

  /** The actor of a task, whatever has become of the task. */
  task(id: string): AnyActorRef {
    const known = this.#tasks.get(id)
    if (known !== undefined) return known
    const actor = this.#taskActor(id, unreadTask(id))
    this.#asked.add(id)
    this.#wake()
    return actor
  }

  /** Says nothing more. Who stops the root stops the actors. */
  close(): void {
    this.#over = true
    this.#unsubscribe()
  }

  async #open(): Promise<void> {
    const { host, bus } = this.#parts
    try {
      const followed = await FollowedWorld.open(host.log, this.#scope)
      if (this.#over) return
      this.#followed = followed
      // Nothing is told through a session that is done.
      if (isErased(followed)) await this.#answerAsked(followed, [...this.#asked])
      this.#showAll(followed)
      const after = followed.cursor === 0 ? {} : { after: positionText(await host.log.epoch(), followed.cursor) }
      if (this.#over) return
      const subscription = bus.events(this.#scope, after).subscribe({
        next: () => this.#wake(),
        error: (error) => this.#fail(error),
      })
      this.#unsubscribe = () => subscription.unsubscribe()
      this.#wake()
    } catch (error) {
      this.#fail(error)
    }
  }

  #wake(): void {
    this.#due = true
    if (this.#reading || this.#over || this.#followed === null) return
    this.#reading = true
    this.#parts.host.scheduler.soon(() => void this.#read())
  }

  async #read(): Promise<void> {
    try {
      while (this.#due && !this.#over && this.#followed !== null) {
        this.#due = false
        const asked = [...this.#asked]
        for (let steps = await this.#followed.follow(); steps.length > 0; steps = await this.#followed.follow())
          for (const step of steps) if (!this.#over) this.#showStep(step)
        await this.#answerAsked(this.#followed, asked)
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#reading = false
    }
  }

  #fail(error: unknown): void {
    if (this.#over) return
    this.close()
    this.#parts.host.logger.warn({ code: errorCode(error) }, 'the actors of a session cannot follow it any more')
    for (const actor of [...this.#calls.values(), ...this.#tasks.values(), this.actor]) {
      const view = actor.getSnapshot() as ActorView<unknown>
      show(actor, plainEvent('landfall.failed', view.seq), { ...view, ...failedWith(error) })
    }
    this.#onEnd()
  }

  /** What there was before anybody watched: the living, and no history. */
  #showAll({ world }: FollowedWorld): void {
    const event = plainEvent('landfall.read', world.seq)
    for (const [id, snapshot] of world.calls) this.#showCall(id, snapshot, event, world.seq)
    for (const [id, snapshot] of world.tasks) this.#showTask(id, snapshot, event, world.seq)
    this.#showSession(event)
    this.#forgetEnded()
  }

  #showStep(step: FollowedStep): void {
    const seq = step.facts.at(-1)?.seq ?? 0
    for (const [id, snapshot] of step.calls)
      this.#showCall(
        id,
        snapshot,
        eventOf(step.facts, (f) => f.call === id),
        seq,
      )
    for (const [id, snapshot] of step.tasks)
      this.#showTask(
        id,
        snapshot,
        eventOf(step.facts, (f) => f.task === id),
        seq,
      )
    this.#showSession(eventOf(step.facts, () => true))
    this.#forgetEnded()
  }

  #showSession(event: CommittedEvent): void {
    const session = this.#followed?.world.session ?? null
    const children = this.#living(this.actor, this.#tasks)
    const context = session?.context ?? initialSession(emptyOpening)
    const parts = { value: session?.value ?? 'unopened', context, children, seq: event.seq }
    const isDone = this.#followed !== null && isErased(this.#followed)
    show(this.actor, event, isDone ? viewOf(parts, doneWith(undefined)) : viewOf(parts))
    if (!isDone) return
    this.#unsubscribe()
    this.#onEnd()
  }

  #showTask(id: string, snapshot: TaskSnapshot, event: CommittedEvent, seq: number): void {
    const before = this.#tasks.get(id)
    const children = before === undefined ? {} : this.#living(before, this.#calls)
    const { value, context } = snapshot
    const ended = this.#followed?.world.taskRecords.get(id)?.ended
    const end = ended == null ? undefined : doneWith(endView(ended))
    const view = viewOf<TaskContext>({ value, context, children, seq }, end)
    if (before === undefined) this.#taskActor(id, view)
    else show(before, event, view)
    this.#asked.delete(id)
  }

  #showCall(id: string, { value, context, status }: CallSnapshot, event: CommittedEvent, seq: number): void {
    const parts = { value, context, children: {}, seq }
    const view = viewOf<CallContext>(parts, status === 'done' ? doneWith({ outcome: value }) : undefined)
    const before = this.#calls.get(id)
    if (before !== undefined) show(before, event, view)
    else if (status !== 'done') {
      const { task } = context
      const parent = this.#tasks.get(task) ?? this.#taskActor(task, unreadTask(task))
      const config = { config: callMachine.config, first: view, command: callCommand }
      this.#calls.set(id, this.#newActor(parent, id, config))
    }
  }

  #taskActor(id: string, first: ActorView<TaskContext>): AnyActorRef {
    const command = (event: EventObject) => taskCommand(event, id)
    const actor = this.#newActor(this.actor, id, { config: taskMachine.config, first, command })
    this.#tasks.set(id, actor)
    return actor
  }

  /** Two sessions may have tasks of one id when a host makes ids; then the second is found by its session alone. */
  #newActor<C>(parent: AnyActorRef, id: string, parts: Omit<ProjectionParts<C>, 'port'>): AnyActorRef {
    const systemId = parent.system.get(id) === undefined ? id : `${idOf(this.#scope)}/${id}`
    const logic = projectionLogic<C>({ ...parts, port: this.#port })
    return createActor(logic, { parent, id, systemId, input: undefined }).start()
  }

  #living(parent: AnyActorRef, among: ReadonlyMap<string, AnyActorRef>): { readonly [id: string]: AnyActorRef } {
    return Object.fromEntries([...among].filter(([, child]) => parentOf(child) === parent))
  }

  #forgetEnded(): void {
    for (const among of [this.#tasks, this.#calls])
      for (const [id, child] of among) if (statusOf(child) !== 'active') among.delete(id)
  }

  /** Tasks that ended before anybody watched, and such as there never were. */
  async #answerAsked(followed: FollowedWorld, asked: readonly string[]): Promise<void> {
    for (const id of asked) {
      if (!this.#asked.delete(id)) continue
      const snapshot = followed.world.tasks.get(id) ?? (await followed.ended(id))
      const { seq } = followed.world
      if (this.#over) return
      if (snapshot !== null) this.#showTask(id, snapshot, plainEvent('landfall.read', seq), seq)
      else this.#refuse(id, seq)
    }
  }

  #refuse(id: string, seq: number): void {
    const actor = this.#tasks.get(id)
    if (actor === undefined) return
    this.#tasks.delete(id)
    const error = new LandfallError('NOT_FOUND', 'No such task in this session.', { details: { task: id } })
    show(actor, plainEvent('landfall.read', seq), { ...unreadTask(id), ...failedWith(error) })
  }
}

function isErased({ world }: FollowedWorld): boolean {
  return world.session?.matches({ lifecycle: 'erased' }) === true
}

function unreadTask(id: string): ActorView<TaskContext> {
  return viewOf({ value: 'unread', context: initialTask(emptyTask(id)), children: {}, seq: 0 })
}

function statusOf(actor: AnyActorRef): string {
  return (actor.getSnapshot() as Snapshot<unknown>).status
}

function parentOf(actor: AnyActorRef): unknown {
  return (actor as { readonly _parent?: unknown })._parent
}

function eventOf(facts: readonly StoredFact[], concerns: (fact: StoredFact) => boolean): CommittedEvent {
  const own = facts.filter(concerns)
  const told = own.length === 0 ? facts : own
  return { type: told[0]?.type ?? 'landfall.read', seq: facts.at(-1)?.seq ?? 0, facts: told.map(({ type }) => type) }
}

/** The name of a session's actor in its system. */
function idOf({ tenant, user, session }: Scope): string {
  return [tenant, user, session].map(encodeURIComponent).join('/')
}
