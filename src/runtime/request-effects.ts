import type { FactData } from '../../machines/facts.ts'
import type { Usage } from '../../machines/vocabulary.ts'
import { inputTokens } from '../context/budget.ts'
import { canonicalJson } from '../facts/digest.ts'
import { isModelError, type Model, ModelError, type ModelRequest } from '../facts/ports.ts'
import { traceparentOf } from '../facts/trace-context.ts'
import { invalidResponse } from '../models/answer-builder.ts'
import { type ModelAnswer, readStream } from '../models/read-stream.ts'
import type { InternalRequest } from './command.ts'
import { DeltaStream } from './delta-stream.ts'
import { fetchObservations } from './fetch-observations.ts'
import { freeText, withheld } from './free-text.ts'
import type { Mailbox } from './mailbox.ts'
import { type NextAttempt, nextAttempt } from './next-attempt.ts'
import { fetchNotes } from './planner-memory.ts'
import { requestOf } from './request-of.ts'
import { safeCode } from './safe-code.ts'
import type { Services } from './services.ts'
import { prefixOf, summaryMessages, summaryOccupancy, summaryRequestOf } from './summary-request.ts'
import { tellWithheld } from './tell-withheld.ts'

interface InFlight {
  readonly controller: AbortController
  readonly seq: number
  readonly attempt: number
  received: number
  /** The stream has ended by itself: there is nothing left to abort. */
  ended: boolean
}

/**
 * Owns: the model requests of a session that are in flight, one a task.
 * 1. A result counts only while its request is the one in flight: an aborted one has been charged and answers to nobody.
 * 2. Deltas leave through the streaming redactor, after the fact that they belong to.
 */
export class RequestEffects {
  readonly #session: Mailbox
  readonly #services: Services
  readonly #inFlight = new Map<string, InFlight>()

  constructor(session: Mailbox, services: Services) {
    this.#session = session
    this.#services = services
  }

  get size(): number {
    return this.#inFlight.size
  }

  received(task: string): number {
    return this.#inFlight.get(task)?.received ?? 0
  }

  send(task: string): void {
    const held = this.#session.held
    const record = held?.world.taskRecords.get(task)
    const desk = held?.desks.get(task)
    const context = held?.world.tasks.get(task)?.context
    const requested = held?.lastRequest.get(task)
    if (held === null || record?.started == null || desk === undefined || context === undefined) return
    if (requested === undefined) return
    const flight = {
      controller: new AbortController(),
      seq: requested.seq,
      attempt: requested.data.attempt,
      received: 0,
      ended: false,
    }
    this.#inFlight.set(task, flight)
    const { host } = this.#services
    const traceparent = traceparentOf(task, record.created.traceparent, requested.id)
    const of = { task, flight, cause: requested.id, traceparent }
    const { purpose, model } = requested.data
    if (purpose === 'summary') {
      const messages = summaryMessages(held.bodies, prefixOf(held.world, task))
      const request = summaryRequestOf(messages, { ...requested.data, turn: record.turn })
      return void this.#run({
        ...of,
        request,
        bytes: summaryOccupancy(messages),
        name: model,
        model: host.summaryModel,
      })
    }
    const request = requestOf(desk, requested.data, record.started, record.turn)
    const bytes = desk.baseOccupancy + desk.view.occupancy
    void this.#run({ ...of, request, bytes, name: model, model: host.models.get(model) ?? null })
  }

  abort(task: string): void {
    const flight = this.#inFlight.get(task)
    if (flight === undefined) return
    this.#inFlight.delete(task)
    if (!flight.ended) flight.controller.abort()
  }

  abandon(): void {
    for (const task of [...this.#inFlight.keys()]) this.abort(task)
  }

  async #run(of: Sent): Promise<void> {
    const { bus, host } = this.#services
    const began = host.clock.now()
    const { task, cause } = of
    const deltas = new DeltaStream(bus, host.redactor, { ...this.#session.scope, task, after: of.flight.seq }, () =>
      tellWithheld(this.#session, { type: 'model.delta', field: 'text', task, cause }),
    )
    try {
      const { model } = of
      if (model === null) throw new ModelError({ code: 'MODEL_NOT_CONFIGURED', retryable: false })
      const answer = await readStream(
        model,
        of.request,
        { signal: of.flight.controller.signal, attempt: of.flight.attempt, traceparent: of.traceparent },
        {
          clock: host.clock,
          scheduler: host.scheduler,
          fair: host.fair,
          ids: host.ids,
          idleMs: host.requestTimeoutMs,
          requestBytes: of.bytes,
          onBytes: (received) => {
            of.flight.received = received
          },
          onChunk: (chunk) => {
            if (of.request.purpose === 'summary') return
            if (chunk.type === 'text' || chunk.type === 'reasoning') deltas.push(chunk.type, chunk.text)
          },
        },
      )
      deltas.end()
      const durationMs = host.clock.now() - began
      if (of.request.purpose === 'summary') this.#summarised(of, answer, durationMs)
      else await this.#answered(of, withOwnIds(answer, host.ids), durationMs)
    } catch (error) {
      deltas.end()
      this.#failed(of, error)
    }
  }

  /** Only the request in flight speaks for its task. */
  #isCurrent(of: Sent): boolean {
    return this.#inFlight.get(of.task) === of.flight
  }

  /** Only a whole text is a summary; everything else is charged, and leaves the view as it is. */
  #summarised(of: Sent, answer: ModelAnswer, durationMs: number): void {
    if (!this.#isCurrent(of)) return
    of.flight.ended = true
    const { usage, finish, text, calls } = answer
    if (finish !== 'stop' || calls.length > 0 || text.trim() === '')
      return this.#session.post(this.#failure(of, invalidResponse('it is no summary'), usage))
    const tooLarge = () => this.#failure(of, invalidResponse('it does not fit into one step'), usage)
    this.#session.post({
      cause: of.cause,
      by: { kind: 'planner', id: of.name },
      summary: { task: of.task, text },
      agenda: (step) => {
        if (!this.#isCurrent(of)) return []
        const data = { usage, finish, digest: step.put(text).digest, calls: [], durationMs }
        return [{ type: 'model.completed', task: of.task, data }]
      },
      get otherwise() {
        return tooLarge()
      },
    })
  }

  async #answered(of: Sent, answer: ModelAnswer, durationMs: number): Promise<void> {
    if (!this.#isCurrent(of)) return
    of.flight.ended = true
    const { held, scope } = this.#session
    const { log, redactor } = this.#services.host
    const strange = answer.calls
      .map(({ name }) => [name, freeText(redactor, name)])
      .find(([name, safe]) => safe !== name)
    const { usage, finish, text } = answer
    if (strange !== undefined) {
      const failure = invalidResponse('it names a tool as none may be named')
      return this.#session.post(this.#failure(of, failure, usage, strange[1] === withheld ? 'calls' : undefined))
    }
    const fetched =
      held === null
        ? []
        : [
            ...(await fetchObservations({ log, scope, held, task: of.task }, answer.calls)),
            ...(await fetchNotes({ services: this.#services, scope }, answer.calls)),
          ]
    const tooLarge = () => this.#failure(of, invalidResponse('it does not fit into one step'), usage)
    this.#session.post({
      cause: of.cause,
      by: { kind: 'planner', id: of.name },
      answer,
      agenda: (step) => {
        if (!this.#isCurrent(of)) return []
        for (const [call, body] of fetched) step.base.bodies.fetched.set(call, body)
        const calls = answer.calls.map(({ id, name, arguments: args }) => ({
          call: id,
          name,
          arguments: step.put(canonicalJson(args)).digest,
        }))
        const data = { usage, finish, digest: step.put(text).digest, calls, durationMs }
        return [{ type: 'model.completed', task: of.task, data }]
      },
      get otherwise() {
        return tooLarge()
      },
    })
  }

  #failed(of: Sent, error: unknown): void {
    if (!this.#isCurrent(of)) return
    of.flight.ended = true
    const failure = isModelError(error) ? error : new ModelError({ code: 'MODEL_FAILED', retryable: false })
    if (failure.code === 'MODEL_TIMEOUT') return this.#session.post(this.#deadline(of))
    this.#session.post(this.#failure(of, failure))
  }

  /** Silent for too long: given up, charged, and asked again while attempts are left. The wait is over already. */
  #deadline(of: Sent): InternalRequest {
    return {
      cause: of.cause,
      by: { kind: 'runtime', id: 'model' },
      agenda: () => (this.#isCurrent(of) ? [{ ask: 'abandonRequest', task: of.task, reason: 'deadline' }] : []),
    }
  }

  #failure(of: Sent, failure: ModelError, usage?: Usage, unclean?: string): InternalRequest {
    return {
      cause: of.cause,
      by: { kind: 'runtime', id: 'model' },
      agenda: (step) => {
        if (!this.#isCurrent(of)) return []
        const isTurn = of.request.purpose === 'turn'
        const { code, withheld: noCode } = safeCode(this.#services.host.redactor, failure.code, 'MODEL_FAILED')
        if (noCode) step.withhold('code')
        if (unclean !== undefined) step.withhold(unclean)
        // A summary that failed is not asked again in its round.
        const { waitMs, reason = failure.reason } = isTurn ? this.#next(of.flight.attempt, failure) : { waitMs: null }
        const data: FactData['model.failed'] = {
          code,
          retryable: failure.retryable,
          attempt: of.flight.attempt,
          ...(waitMs === null ? {} : { retryAt: step.after(waitMs) }),
          ...(usage !== undefined ? { usage } : isCharged(of, failure) ? { usage: chargeOf(of) } : {}),
          ...(reason === undefined ? {} : { reason: freeText(this.#services.host.redactor, reason) }),
        }
        return [{ type: 'model.failed', task: of.task, data }]
      },
    }
  }

  #next(attempt: number, failure: ModelError): NextAttempt {
    const { limits, random } = this.#services.host
    return nextAttempt({ attempt, failure, limits, random })
  }
}

interface Sent {
  readonly task: string
  readonly flight: InFlight
  readonly request: ModelRequest
  /** Of the request: what a cut one is charged for. */
  readonly bytes: number
  readonly name: string
  readonly model: Model | null
  readonly cause: string
  readonly traceparent: string
}

/** A provider that refuses counts nothing; a request that was cut, or whose answer broke, was worked on. */
function isCharged(of: Sent, failure: ModelError): boolean {
  return of.flight.received > 0 || failure.code === 'MODEL_INVALID_RESPONSE'
}

function chargeOf(of: Sent): { input: number; output: number; total: number; estimated: true } {
  const input = inputTokens(of.bytes)
  const output = inputTokens(of.flight.received)
  return { input, output, total: input + output, estimated: true }
}

/** Call ids of a provider are not ours: two answers may use the same one. */
function withOwnIds(answer: ModelAnswer, ids: { next(): string }): ModelAnswer {
  return { ...answer, calls: answer.calls.map((call) => ({ ...call, id: ids.next() })) }
}
