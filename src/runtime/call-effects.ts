import type { CallReturn } from '../../machines/commands.ts'
import { decideCallResult, decideVerified } from '../../machines/decide-results.ts'
import type { CallId, Json, TaskId } from '../../machines/vocabulary.ts'
import type { Resumed, ToolContext, ToolDefinition, ToolProgress } from '../capabilities/define-tool.ts'
import { traceparentOf } from '../facts/trace-context.ts'
import { freeText, withheld } from './free-text.ts'
import type { Mailbox } from './mailbox.ts'
import { pausedBy } from './pause-request.ts'
import type { Services } from './services.ts'
import type { Step } from './step.ts'
import { checkProgress, TaskProgress } from './task-progress.ts'
import { tellWithheld } from './tell-withheld.ts'
import { memoryOf, pauseWith } from './tool-context.ts'
import { isAbort, returnOf, type ToolReturn } from './tool-return.ts'

interface Performed {
  readonly controller: AbortController
  readonly tool: ToolDefinition
  readonly task: TaskId
  readonly call: CallId
  readonly attempt: number
  readonly cause: string | null
  readonly began: number
  notes: number
  /** A note was withheld, and that has been told. */
  withheld: boolean
}

/**
 * Owns: the attempts of calls that this process has begun and that have not come back.
 * 1. An attempt stays here until its promise settles, also after its call has an outcome: what comes then is late evidence.
 * 2. Whether it threw before its abort is judged when it throws, not when the mailbox gets to it.
 */
export class CallEffects {
  readonly #session: Mailbox
  readonly #services: Services
  readonly #performed = new Map<CallId, Performed>()
  readonly #told: TaskProgress

  constructor(session: Mailbox, services: Services) {
    this.#session = session
    this.#services = services
    this.#told = new TaskProgress(session, services)
  }

  get size(): number {
    return this.#performed.size
  }

  perform(of: { task: TaskId; call: CallId; attempt: number }): void {
    const held = this.#session.held
    const name = held?.world.callRecords.get(of.call)?.name ?? ''
    const tool = held?.desks.get(of.task)?.tools.get(name)?.tool
    const args = held?.bodies.arguments.get(of.call)
    if (held === null || tool === undefined || args === undefined) return
    const performed: Performed = {
      ...of,
      controller: new AbortController(),
      tool,
      cause: held.lastStart.get(of.call) ?? null,
      began: this.#services.host.clock.now(),
      notes: 0,
      withheld: false,
    }
    this.#performed.set(of.call, performed)
    this.#services.host.workspaces?.expect(this.#session.scope, held.world.tree)
    void this.#run(performed, args)
  }

  /** The signal goes out; where the tool offers `cancel`, it is asked too, and may hang or throw without harm. */
  abort(call: CallId, reason: 'cancel' | 'deadline'): void {
    const performed = this.#performed.get(call)
    if (performed === undefined) return
    performed.controller.abort(new DOMException(`The call is told to stop: ${reason}.`, 'AbortError'))
    const { cancel } = performed.tool
    if (cancel === undefined) return
    void Promise.resolve()
      .then(() => cancel.call(performed.tool, call))
      .then(
        (said) => {
          if (said === 'acknowledged') this.#report(performed, { how: 'acknowledged' })
        },
        () => {},
      )
  }

  verify(call: CallId): void {
    const held = this.#session.held
    const record = held?.world.callRecords.get(call)
    const tool = held?.desks.get(record?.task ?? '')?.tools.get(record?.name ?? '')?.tool
    const args = held?.bodies.arguments.get(call)
    if (held === null || record === undefined || tool?.verify === undefined || args === undefined) return
    const began = this.#services.host.clock.now()
    const controller = new AbortController()
    const { verify } = tool
    void Promise.resolve()
      .then(() =>
        verify.call(tool, args, {
          signal: controller.signal,
          callId: call,
          taskId: record.task,
          scope: this.#session.scope,
          idempotencyKey: record.idempotencyKey ?? call,
        }),
      )
      .catch(() => 'unknown' as const)
      .then((outcome) => this.#verified(call, outcome, this.#services.host.clock.now() - began))
  }

  abandon(): void {
    for (const performed of this.#performed.values()) performed.controller.abort()
    this.#performed.clear()
    this.#told.abandon()
    this.#services.host.workspaces?.drop(this.#session.scope)
  }

  async #run(performed: Performed, args: unknown): Promise<void> {
    const returned = await returnOf(() => performed.tool.run(args, this.#context(performed)), {
      redactor: this.#services.host.redactor,
      effect: performed.tool.effect,
      isAborted: () => performed.controller.signal.aborted,
      isAcknowledgement: (error) => isAbort(error, performed.controller.signal),
      maxBytes: this.#services.host.limits.contentBytes,
    })
    this.#report(performed, returned)
    if (this.#performed.get(performed.call) === performed) this.#performed.delete(performed.call)
  }

  #context(performed: Performed): ToolContext {
    const { call, task, attempt } = performed
    const { scope } = this.#session
    return {
      signal: performed.controller.signal,
      callId: call,
      taskId: task,
      scope,
      idempotencyKey: call,
      attempt,
      traceparent: this.#traceparent(performed),
      progress: (given) => this.#progress(performed, checkProgress(given)),
      pause: pauseWith,
      memory: memoryOf({
        services: this.#services,
        session: this.#session,
        tool: performed.tool.name,
        cause: performed.cause,
        isRunning: () => this.#isRunning(performed),
      }),
      ...this.#resumed(call),
    }
  }

  /** Begun here, and without an outcome so far. */
  #isRunning({ call, attempt }: Performed): boolean {
    const chart = this.#session.held?.world.calls.get(call)
    const isCurrent = this.#performed.get(call)?.attempt === attempt && chart?.context.attempts === attempt
    return isCurrent && (chart?.value === 'started' || chart?.value === 'aborting')
  }

  /** The call's span begins with the fact that this attempt follows from. */
  #traceparent({ task, call, cause }: Performed): string {
    const inbound = this.#session.held?.world.taskRecords.get(task)?.created.traceparent
    return traceparentOf(task, inbound, cause ?? call)
  }

  /** The answer to the pause that ended the attempt before this one. */
  #resumed(call: CallId): { resumed?: Resumed } {
    const held = this.#session.held
    const settled = held?.world.callRecords.get(call)?.resumed
    if (held == null || settled == null) return {}
    const input = held.bodies.answers.get(settled.token)
    const { decision } = settled
    return { resumed: input === undefined ? { decision } : { decision, input: JSON.parse(input) as Json } }
  }

  #progress(performed: Performed, told: string | ToolProgress): void {
    const { call, task, tool, cause } = performed
    if (typeof told !== 'string') {
      const isBackground = this.#session.held?.world.taskRecords.get(task)?.created.kind === 'background'
      if (isBackground) this.#told.tell(task, { progress: told, tool: tool.name, cause })
      if (told.note !== undefined) this.#progress(performed, told.note)
      return
    }
    const note = told
    const after = this.#session.held?.world.calls.get(call)?.context.seq
    if (after === undefined) return
    performed.notes += 1
    const shown = freeText(this.#services.host.redactor, note)
    if (shown === withheld && !performed.withheld) {
      performed.withheld = true
      tellWithheld(this.#session, { type: 'call.progress', field: 'note', task, call, cause: performed.cause })
    }
    const event = { type: 'call.progress', after, index: performed.notes, note: shown, task, call } as const
    this.#services.bus.ephemeral({ ...this.#session.scope, ...event })
  }

  #report(performed: Performed, returned: ToolReturn): void {
    const { host } = this.#services
    const durationMs = host.clock.now() - performed.began
    this.#session.post({
      cause: performed.cause,
      by: { kind: 'capability', id: performed.tool.name },
      agenda: (step, world) =>
        decideCallResult(world, {
          call: performed.call,
          attempt: performed.attempt,
          durationMs,
          result: this.#withTree(step, performed.tool, recorded(step, performed.call, returned)),
          maxAttempts: host.limits.callAttempts,
        }),
    })
  }

  /** A change of the workspace is named by the fact that tells of its call, where the result counts. */
  #withTree(step: Step, tool: ToolDefinition, result: CallReturn): CallReturn {
    const { workspaces } = this.#services.host
    if (result.how !== 'returned' || workspaces === null) return result
    const put = {
      digest: (value: string) => step.digest(value),
      share: (digest: string, body: string) => void step.shared.set(digest, { digest, body }),
    }
    const tree = workspaces.record(this.#session.scope, tool, put, step.world.tree)
    return tree === undefined ? result : { ...result, tree }
  }

  #verified(call: CallId, outcome: 'succeeded' | 'failed' | 'unknown', durationMs: number): void {
    this.#session.post({
      cause: null,
      by: { kind: 'capability', id: 'verify' },
      agenda: (step, world) => {
        if (outcome === 'unknown' || world.calls.get(call)?.value !== 'verifying')
          return decideVerified(world, call, { outcome, durationMs })
        const text = `The outcome was verified afterwards: ${outcome}.`
        step.base.bodies.outputs.set(call, text)
        return decideVerified(world, call, { outcome, durationMs, ...step.put(text) })
      },
    })
  }
}

/** Content goes with the step only when the result counts; late evidence is a digest alone. */
function recorded(step: Step, call: CallId, returned: ToolReturn): CallReturn {
  if (returned.how === 'acknowledged') return returned
  if (returned.how === 'paused') {
    const paused = pausedBy(step, returned.request)
    // After an abort a pause only says that the attempt has stopped.
    if ('how' in paused || step.world.calls.get(call)?.value !== 'started')
      return 'how' in paused ? paused : { how: 'acknowledged' }
    step.base.bodies.outputs.set(call, paused.text)
    return { how: 'threw', ...step.put(paused.text), code: paused.code, beforeAbort: true }
  }
  const counts = step.world.calls.get(call)?.value !== 'unknown'
  const { digest, bytes } = counts ? step.put(returned.text) : { digest: step.digest(returned.text), bytes: 0 }
  if (counts) step.base.bodies.outputs.set(call, returned.text)
  if (returned.how === 'returned') return { how: 'returned', digest, bytes }
  const { code } = returned
  for (const part of returned.withheld ?? []) step.withhold(part)
  return returned.how === 'lost'
    ? { how: 'lost', digest, bytes, code }
    : { how: 'threw', digest, bytes, code, beforeAbort: returned.beforeAbort }
}
