import { type Meter, metrics as metricsApi, type Tracer, trace } from '@opentelemetry/api'
import { isFact } from '../bus/events.ts'
import type { StoredFact } from '../facts/envelope.ts'
import type { Logger, Redactor } from '../facts/ports.ts'
import { scopeKey } from '../facts/scope.ts'
import type { Runtime } from '../runtime/open-runtime.ts'
import { contentOf } from './content-of.ts'
import { factLine } from './fact-line.ts'
import { FactMeter } from './fact-meter.ts'
import { prometheusText } from './prometheus-text.ts'
import type { SpanIds } from './span-ids.ts'
import { SpanMaker } from './span-maker.ts'
import { TaskTraces } from './task-traces.ts'
import { WorkInView } from './work-in-view.ts'

export interface TelemetryOptions {
  /** Absent: no lines. `pinoLogger()` writes them as JSON to standard error. */
  readonly logger?: Logger
  /** Absent: that of the global provider, which does nothing until the host registers one. */
  readonly tracer?: Tracer
  readonly meter?: Meter
  /** The ids that the tracer's provider was given as `idGenerator`; without them ids are the provider's own. */
  readonly spanIds?: SpanIds
  /** true: messages, redacted, as events of spans and in lines. */
  readonly content?: boolean
}

/** What is known of a request that a server has answered. */
interface AnsweredRequest {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly durationMs: number
}

export interface Telemetry {
  /** The numbers since the start in the text format of Prometheus; for a server's `metrics`. */
  metrics(): string
  /** For a server's `onRequest`. */
  onRequest(record: AnsweredRequest): void
  /** Ends open spans and hears no more. Flushing is for the owner of the providers. */
  close(): Promise<void>
}

/**
 * Lines, spans and numbers from the facts that this runtime writes, and from nothing else. It listens to all sessions, which is
 * on record as one elevated read of an actor `telemetry`.
 */
export async function telemetry(runtime: Runtime, options: TelemetryOptions = {}): Promise<Telemetry> {
  const heard = new Heard(runtime, options)
  const stream = await runtime.reads.events({}, { after: 'now', elevated: { actor: 'telemetry', scope: 'fleet' } })
  const subscription = stream.subscribe({
    next: (event) => {
      if (isFact(event)) heard.fact(event)
    },
    error: () => options.logger?.error({}, 'telemetry hears nothing any more'),
  })
  return {
    metrics: () => prometheusText(heard.meter.settle()),
    onRequest: (record) => heard.request(record),
    close: async () => {
      subscription.unsubscribe()
      await heard.end()
    },
  }
}

/** So many facts wait for their content to be read; what comes then is told without. */
const waitingMax = 1_024

/**
 * Owns: what was heard and is not over.
 * 1. Facts are told in their order, also when the content of one is being read.
 * 2. Nothing is told but what the redactor has passed; of a line that it fails on only the type is left.
 * 3. Facts of other processes are theirs to tell; they only say that a session has gone there.
 */
class Heard {
  readonly meter: FactMeter
  readonly #runtime: Runtime
  readonly #options: TelemetryOptions
  readonly #redactor: Redactor
  readonly #traces: TaskTraces
  readonly #view = new WorkInView()
  #waiting = 0
  #turn: Promise<void> = Promise.resolve()

  constructor(runtime: Runtime, options: TelemetryOptions) {
    this.#runtime = runtime
    this.#options = options
    this.#redactor = runtime.ports.redactor
    this.meter = new FactMeter(options.meter ?? metricsApi.getMeter('landfall'))
    const tracer = options.tracer ?? trace.getTracer('landfall')
    this.#traces = new TaskTraces(new SpanMaker(tracer, options.spanIds ?? null, this.#redactor), (fact, task) =>
      fact.type === 'task.created' ? fact.data.traceparent : runtime.inboundTrace(fact, task),
    )
  }

  fact(fact: StoredFact): void {
    if (fact.owner.id !== this.#runtime.ports.instance.id) return this.#gone(fact)
    if (fact.type === 'session.owned') void this.#standing(fact)
    if (this.#options.content !== true) return this.#tell(fact, null)
    const wanted = this.#waiting < waitingMax && fact.type === 'message.added'
    this.#waiting += 1
    this.#turn = this.#turn.then(async () => {
      const content = wanted ? await contentOf(this.#runtime, fact) : null
      this.#waiting -= 1
      this.#tell(fact, content)
    })
  }

  request({ method, route, status, durationMs }: AnsweredRequest): void {
    this.#write('info', { method, route, status, durationMs }, 'request answered')
    this.meter.request({ method, route, status, durationMs })
  }

  async end(): Promise<void> {
    await this.#turn
    this.#traces.leave(null, this.#runtime.ports.clock.now())
    this.meter.stop()
  }

  #tell(fact: StoredFact, content: { readonly role: string; readonly content: string } | null): void {
    this.#view.begin(fact)
    this.meter.note(fact, this.#view)
    this.#traces.note(fact, this.#view)
    const line = factLine(fact, this.#view)
    if (line !== null) this.#write(line.level, line.fields, line.message)
    if (content !== null) {
      const { task, message } = { task: fact.task, message: Reflect.get(fact.data, 'message') as unknown }
      this.#traces.content(fact, { 'landfall.message.role': content.role, 'landfall.message.content': content.content })
      this.#write(
        'info',
        { task, message, ...content, type: fact.type, session: fact.session, seq: fact.seq },
        fact.type,
      )
    }
    this.#view.end(fact)
  }

  #gone(fact: StoredFact): void {
    this.#traces.leave(scopeKey(fact), Date.parse(fact.at))
    this.meter.standing.drop(scopeKey(fact))
  }

  /** What stood in the session when it came here. */
  async #standing({ tenant, user, session }: StoredFact): Promise<void> {
    const scope = { tenant, user, session }
    try {
      const { queue, quarantined } = await this.#runtime.session(scope).state()
      this.meter.standing.put('queued', scopeKey(scope), queue)
      this.meter.standing.put('quarantined', scopeKey(scope), quarantined)
    } catch {
      // A runtime that closes answers no more; there is nothing left to count then.
    }
  }

  #write(level: 'debug' | 'info' | 'warn' | 'error', fields: object, message: string): void {
    const { logger } = this.#options
    if (logger === undefined) return
    let clean: object
    try {
      clean = this.#redactor.value(fields) as object
    } catch {
      clean = { withheld: true }
    }
    logger[level](clean, message)
  }
}
