import { createHash } from 'node:crypto'
import type { ActorLogic, ActorScope, AnyActorRef, EventObject, Snapshot } from 'xstate'
import type { Grant, Json, JsonObject, SteeringFate } from '../../machines/vocabulary.ts'
import { canonicalText } from '../facts/canonical-text.ts'
import { errorCode, isLandfallError, LandfallError } from '../facts/errors.ts'
import type { Scope } from '../facts/scope.ts'
import { type OperatorNotice, operate } from '../runtime/actors/operator-event.ts'
import type { Input } from '../runtime/input.ts'
import type { Runtime } from '../runtime/open-runtime.ts'
import type { Outcome } from '../runtime/outcome.ts'
import type { Session } from '../runtime/session.ts'
import type { TaskHandle } from '../runtime/task-handle.ts'

/** What a host chart gives to the task that it invokes. */
export interface TaskInput {
  readonly scope: Scope
  readonly input: Input
  /** How the session takes it; absent: `start`. */
  readonly command?: 'start' | 'followUp' | 'supersede'
  /**
   * What makes this task this task. Absent: made from everything else here, so that the same input in the same session is the
   * same task, whenever and wherever it is asked for again. Give another one to have the same done once more.
   */
  readonly commandId?: string
  readonly requires?: 'none' | 'success'
  readonly model?: string
  readonly system?: string
  readonly settings?: JsonObject
  readonly grants?: { readonly [id: string]: Grant }
  readonly skills?: readonly string[]
}

interface Identified {
  readonly commandId?: string
}

/** What may be sent to the invoked task; it is about this task alone. */
export type TaskLogicEvent =
  | ({ readonly type: 'steer'; readonly input: Input; readonly mode?: 'boundary' | 'interrupt' } & Identified)
  | ({ readonly type: 'cancel'; readonly reason?: string; readonly steering?: SteeringFate } & Identified)
  | ({ readonly type: 'pause' } & Identified)
  | ({
      readonly type: 'resume'
      readonly token: string
      readonly decision: 'approve' | 'reject' | 'resume' | 'timeout'
      readonly input?: Json
    } & Identified)
  | ({ readonly type: 'confirm'; readonly confirmation: string; readonly decision: 'allow' | 'deny' } & Identified)

export type TaskLogicSnapshot = Snapshot<Outcome> & {
  readonly context: {
    readonly scope: Scope
    readonly commandId: string
    /** The durable task, once its start is on disk. */
    readonly task: string | null
    /** What is still to be started. It is dropped with the start: from then on the log has it. */
    readonly wanted: TaskInput | null
  }
}

export interface TaskLogicOptions {
  /** What becomes of the task when the host chart stops the actor: `cancel` (also when absent) or `detach`. */
  readonly onStop?: 'cancel' | 'detach'
}

export type TaskLogic = ActorLogic<TaskLogicSnapshot, TaskLogicEvent, TaskInput, AnyActorRef['system'], OperatorNotice>

type TaskScope = ActorScope<TaskLogicSnapshot, TaskLogicEvent, AnyActorRef['system'], OperatorNotice>

/**
 * A durable task as actor logic, for a chart to `invoke` or `spawn`: its input starts the task, what is sent to it steers it, and
 * it is done with the task's outcome, whatever the status; only a refusal of the start is an error. The persisted snapshot names
 * the task, so a chart that is restored, also by another process, is joined to the same one.
 */
export function taskLogic(runtime: Runtime, options: TaskLogicOptions = {}): TaskLogic {
  const attachments = new WeakMap<object, Attachment>()
  const attach = (scope: TaskScope) => {
    const made = new Attachment(runtime, scope, options.onStop ?? 'cancel')
    attachments.set(scope.self, made)
    return made
  }
  const attachmentOf = (scope: TaskScope) => attachments.get(scope.self) ?? attach(scope)
  return {
    config: { id: 'landfall.task' },
    getInitialSnapshot: (_, input) => ({ ...active, context: wantedContext(input) }),
    getPersistedSnapshot: (snapshot) => ({ ...snapshot, error: plainError(snapshot.error) }) as Snapshot<unknown>,
    restoreSnapshot: (persisted) => persisted as TaskLogicSnapshot,
    start: (snapshot, scope) => {
      if (snapshot.status !== 'active' || attachments.get(scope.self)?.goOn() === true) return
      void attach(scope).run(snapshot.context)
    },
    transition: (snapshot, event, scope) => {
      const attachment = attachmentOf(scope)
      const next = attachment.told.get(event)
      if (next !== undefined) return next(snapshot)
      if ((event as EventObject).type === 'xstate.stop') {
        attachment.stop()
        return { ...snapshot, ...stopped }
      }
      if (commands.has(event.type)) void attachment.command(event)
      return snapshot
    },
  }
}

const active = { status: 'active', output: undefined, error: undefined } as const
const stopped = { status: 'stopped', output: undefined, error: undefined } as const
const commands: ReadonlySet<string> = new Set(['steer', 'cancel', 'pause', 'resume', 'confirm'])

type Change = (snapshot: TaskLogicSnapshot) => TaskLogicSnapshot

/**
 * Owns: the tie of one running actor to its task.
 * 1. The start is asked for under a command id that a repeat has too, so that a crash between the start and the host's next
 *    persisted snapshot leads to the same task.
 * 2. What is sent before the start is durable waits for it; order is kept, and the outcome is told after the answers.
 * 3. A runtime that closes ends nothing: the actor stays active, and a restored one is joined to the task again.
 * 4. A stop counts when the actor is not started again at once: React's strict mode stops and starts what it mounts, and
 *    must not cancel it.
 */
class Attachment {
  /** Changes that come from the log, by the event that brings them: nobody else can change the snapshot. */
  readonly told = new WeakMap<object, Change>()
  readonly #runtime: Runtime
  readonly #scope: TaskScope
  readonly #onStop: 'cancel' | 'detach'
  #stopped = false
  /** Stopped in this very moment, so that a start takes it back. */
  #leaving = false
  /** Everything before a command: the start, and the commands sent earlier. */
  #before: Promise<void> = Promise.resolve()
  #handle: TaskHandle | null = null
  #session: Session | null = null

  constructor(runtime: Runtime, scope: TaskScope, onStop: 'cancel' | 'detach') {
    this.#runtime = runtime
    this.#scope = scope
    this.#onStop = onStop
  }

  async run(context: TaskLogicSnapshot['context']): Promise<void> {
    const started = this.#start(context)
    this.#before = started.then(
      () => {},
      () => {},
    )
    try {
      const handle = await started
      if (this.#stopped) return
      const output = await handle.outcome()
      // An actor that is done tells nothing more: what was sent to it before gets its answer first.
      await this.#before
      this.#tell('landfall.outcome', (snapshot) => ({ ...snapshot, status: 'done', output, error: undefined }))
    } catch (error) {
      if (this.#handle !== null && isLandfallError(error, 'SHUTTING_DOWN')) return
      this.#tell('landfall.refused', (snapshot) => ({ ...snapshot, status: 'error', output: undefined, error }))
    }
  }

  command(event: TaskLogicEvent): Promise<void> {
    this.#before = this.#before.then(() => this.#carryOut(event))
    return this.#before
  }

  stop(): void {
    this.#stopped = true
    this.#leaving = true
    queueMicrotask(() => {
      if (!this.#leaving) return
      this.#leaving = false
      if (this.#onStop === 'cancel') void this.command({ type: 'cancel', reason: 'the actor of the task was stopped' })
    })
  }

  /** The actor was started again before it was left; false: it is too late, and the task is to be joined anew. */
  goOn(): boolean {
    if (!this.#leaving) return false
    this.#leaving = false
    this.#stopped = false
    return true
  }

  async #start({ scope, commandId, task, wanted }: TaskLogicSnapshot['context']): Promise<TaskHandle> {
    const session = this.#runtime.session(scope)
    this.#session = session
    if (task !== null || wanted === null) {
      this.#handle = session.task(task ?? '')
      return this.#handle
    }
    const { scope: _scope, command = 'start', input, commandId: _id, ...turn } = wanted
    const handle = await session[command](input, { ...turn, commandId })
    this.#handle = handle
    this.#tell('landfall.started', ({ context, ...rest }) => ({
      ...rest,
      context: { ...context, task: handle.id, wanted: null },
    }))
    return handle
  }

  async #carryOut(event: TaskLogicEvent): Promise<void> {
    const [session, handle] = [this.#session, this.#handle]
    if (session === null || handle === null) return
    const isOfTask = event.type === 'steer' || event.type === 'cancel' || event.type === 'pause'
    try {
      const receipt = await operate(session, isOfTask ? { ...event, task: handle.id } : event)
      this.#scope.emit({ type: 'command.accepted', command: event.type, receipt })
    } catch (error) {
      this.#scope.emit({ type: 'command.refused', command: event.type, code: errorCode(error), error })
    }
  }

  #tell(type: string, change: Change): void {
    if (this.#stopped) return
    const event = { type }
    this.told.set(event, change)
    this.#scope.self.send(event as EventObject as TaskLogicEvent)
  }
}

const starts: ReadonlySet<unknown> = new Set(['start', 'followUp', 'supersede'])

function wantedContext(input: TaskInput): TaskLogicSnapshot['context'] {
  // A chart that is written in JavaScript may give anything at all.
  if (typeof input !== 'object' || input === null)
    throw invalid('A task is invoked with an input: its scope, and what is asked for.', 'input')
  if (input.command !== undefined && !starts.has(input.command))
    throw invalid('A task is begun by start, followUp or supersede.', 'command')
  return { scope: input.scope, commandId: input.commandId ?? commandIdOf(input), task: null, wanted: input }
}

/** Of letters and digits only: the id must not look like a secret to a redactor. */
function commandIdOf(input: TaskInput): string {
  try {
    return `invoke-${createHash('sha256').update(canonicalText(input)).digest('hex').slice(0, 24)}`
  } catch (cause) {
    throw invalid('The input of a task is plain data, so that it can be told from another. Correct it.', 'input', cause)
  }
}

function invalid(message: string, field: string, cause?: unknown): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { field }, cause })
}

/** A snapshot is kept as JSON, and an error says nothing there by itself. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  return { name: error.name, message: error.message, code: errorCode(error) }
}
