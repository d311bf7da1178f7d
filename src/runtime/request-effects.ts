import type { FactData } from '../../machines/facts.ts'
import { inputTokens } from '../context/budget.ts'
import { canonicalJson } from '../facts/digest.ts'
import { ModelError, type ModelRequest } from '../facts/ports.ts'
import { invalidResponse } from '../models/answer-builder.ts'
import { type ModelAnswer, readStream } from '../models/read-stream.ts'
import type { InternalRequest } from './command.ts'
import { DeltaStream } from './delta-stream.ts'
import type { Mailbox } from './mailbox.ts'
import { requestOf } from './request-of.ts'
import type { Services } from './services.ts'
import type { TaskDesk } from './task-desk.ts'

interface InFlight {
  readonly controller: AbortController
  readonly seq: number
  readonly attempt: number
  received: number
  /** The stream has ended by itself: there is nothing left to abort. */
  ended: boolean
}

const firstBackoffMs = 500
const longestBackoffMs = 30_000

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
    const request = requestOf(desk, requested.data, record.started, record.turn)
    void this.#run({ task, flight, desk, request, model: record.started.model, cause: requested.id })
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
    const deltas = new DeltaStream(bus, host.redactor, { ...this.#session.scope, task: of.task, after: of.flight.seq })
    try {
      const model = host.models.get(of.model)
      if (model === undefined) throw new ModelError({ code: 'MODEL_NOT_CONFIGURED', retryable: false })
      const answer = await readStream(
        model,
        of.request,
        { signal: of.flight.controller.signal, attempt: of.flight.attempt },
        {
          clock: host.clock,
          scheduler: host.scheduler,
          ids: host.ids,
          idleMs: host.requestTimeoutMs,
          requestBytes: requestBytesOf(of),
          onChunk: (chunk, received) => {
            of.flight.received = received
            if (chunk.type === 'text' || chunk.type === 'reasoning') deltas.push(chunk.type, chunk.text)
          },
        },
      )
      deltas.end()
      this.#answered(of, withOwnIds(answer, host.ids), host.clock.now() - began)
    } catch (error) {
      deltas.end()
      this.#failed(of, error)
    }
  }

  /** Only the request in flight speaks for its task. */
  #isCurrent(of: Sent): boolean {
    return this.#inFlight.get(of.task) === of.flight
  }

  #answered(of: Sent, answer: ModelAnswer, durationMs: number): void {
    if (!this.#isCurrent(of)) return
    of.flight.ended = true
    const tooLarge = () => this.#failure(of, invalidResponse('it does not fit into one step'))
    this.#session.post({
      cause: of.cause,
      by: { kind: 'planner', id: of.model },
      answer,
      agenda: (step) => {
        if (!this.#isCurrent(of)) return []
        const calls = answer.calls.map(({ id, name, arguments: args }) => ({
          call: id,
          name,
          arguments: step.put(canonicalJson(args)).digest,
        }))
        const { usage, finish, text } = answer
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
    const failure = error instanceof ModelError ? error : new ModelError({ code: 'MODEL_FAILED', retryable: false })
    this.#session.post(this.#failure(of, failure))
  }

  #failure(of: Sent, failure: ModelError): InternalRequest {
    return {
      cause: of.cause,
      by: { kind: 'runtime', id: 'model' },
      agenda: (step) => {
        if (!this.#isCurrent(of)) return []
        const retries = failure.retryable && of.flight.attempt < this.#services.host.limits.modelAttempts
        const data: FactData['model.failed'] = {
          code: failure.code,
          retryable: failure.retryable,
          attempt: of.flight.attempt,
          ...(retries ? { retryAt: step.after(this.#backoffMs(of.flight.attempt, failure)) } : {}),
          ...(isCharged(of, failure) ? { usage: chargeOf(of) } : {}),
        }
        return [{ type: 'model.failed', task: of.task, data }]
      },
    }
  }

  #backoffMs(attempt: number, failure: ModelError): number {
    const { retryAfterMs = Number.NaN } = failure
    if (retryAfterMs >= 0) return Math.min(retryAfterMs, this.#services.host.limits.turnMs)
    const ceiling = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempt - 1))
    return Math.round(ceiling / 2 + (ceiling / 2) * this.#services.host.random.next())
  }
}

interface Sent {
  readonly task: string
  readonly flight: InFlight
  readonly desk: TaskDesk
  readonly request: ModelRequest
  readonly model: string
  readonly cause: string
}

/** A provider that refuses counts nothing; a request that was cut, or whose answer broke, was worked on. */
function isCharged(of: Sent, failure: ModelError): boolean {
  return of.flight.received > 0 || failure.code === 'MODEL_TIMEOUT'
}

function requestBytesOf(of: Sent): number {
  return of.desk.baseOccupancy + of.desk.view.occupancy
}

function chargeOf(of: Sent): { input: number; output: number; total: number; estimated: true } {
  const input = inputTokens(requestBytesOf(of))
  const output = inputTokens(of.flight.received)
  return { input, output, total: input + output, estimated: true }
}

/** Call ids of a provider are not ours: two answers may use the same one. */
function withOwnIds(answer: ModelAnswer, ids: { next(): string }): ModelAnswer {
  return { ...answer, calls: answer.calls.map((call) => ({ ...call, id: ids.next() })) }
}
