import type { Attributes, Meter } from '@opentelemetry/api'
import type { Usage } from '../../machines/vocabulary.ts'
import type { StoredFact } from '../facts/envelope.ts'
import { createdAt } from './created-at.ts'
import { type Labels, type MeasureName, measures } from './measures.ts'
import { SeriesBook } from './series.ts'
import { Standing } from './standing.ts'
import type { CallInView, WorkInView } from './work-in-view.ts'

type Tell = (value: number, attributes: Attributes) => void
const gauges = ['queued', 'active', 'quarantined', 'pauses'] as const

/**
 * Owns: the measurements that facts amount to, once for Prometheus and once for a meter of OpenTelemetry.
 * 1. Both are told the same numbers under the same labels.
 * 2. Labels are words of the host's and of ours: names of models and of tools that the catalog has, outcomes and kinds.
 */
export class FactMeter {
  readonly book = new SeriesBook()
  readonly standing = new Standing()
  readonly #recorders = new Map<MeasureName, Tell>()
  readonly #stop: () => void

  constructor(meter: Meter) {
    for (const name of Object.keys(measures) as MeasureName[]) {
      const { name: full, kind, unit, help: description, ...more } = measures[name]
      const advice = 'bounds' in more ? { advice: { explicitBucketBoundaries: [...more.bounds] } } : {}
      if (kind === 'counter') {
        const counter = meter.createCounter(full, { unit, description })
        this.#recorders.set(name, (value, labels) => counter.add(value, labels))
      } else if (kind === 'histogram') {
        const histogram = meter.createHistogram(full, { unit, description, ...advice })
        this.#recorders.set(name, (value, labels) => histogram.record(value, labels))
      }
    }
    const stops = gauges.map((name) => {
      const { name: full, unit, help: description } = measures[name]
      const gauge = meter.createObservableGauge(full, { unit, description })
      const observe = (result: { observe(value: number): void }) => result.observe(this.standing.counts[name])
      gauge.addCallback(observe)
      return () => gauge.removeCallback(observe)
    })
    this.#stop = () => {
      for (const stop of stops) stop()
    }
  }

  stop(): void {
    this.#stop()
  }

  /** The gauges are as they stand when somebody looks. */
  settle(): SeriesBook {
    for (const name of gauges) this.book.set(name, this.standing.counts[name])
    return this.book
  }

  note(fact: StoredFact, view: WorkInView): void {
    this.standing.note(fact)
    this.#add('facts', 1, { 'landfall.fact.type': fact.type })
    if (fact.type === 'audit.redaction_failed') this.#add('withheld', 1)
    if (fact.type.startsWith('model.')) this.#request(fact, view)
    if (fact.type.startsWith('call.')) this.#call(fact, view)
    const status = /^task\.(completed|failed|cancelled|superseded)$/.exec(fact.type)?.[1]
    if (status !== undefined)
      this.#add('tasks', seconds(createdAt(fact.task ?? ''), fact), { 'landfall.task.status': status })
  }

  request({
    method,
    route,
    status,
    durationMs,
  }: {
    method: string
    route: string
    status: number
    durationMs: number
  }): void {
    const labels = { 'http.request.method': method, 'http.route': route, 'http.response.status_code': String(status) }
    this.#add('served', durationMs / 1_000, labels)
  }

  #request(fact: StoredFact, view: WorkInView): void {
    const outcome = /^model\.(completed|failed|abandoned)$/.exec(fact.type)?.[1]
    const request = view.requests.get(fact.task ?? '')
    if (outcome === undefined || request === undefined) return
    const labels = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': request.model }
    const purpose = { 'landfall.request.purpose': request.purpose, 'landfall.request.outcome': outcome }
    this.#add('requests', seconds(request.beganAt, fact), { ...labels, ...purpose })
    if (fact.type === 'model.failed' && fact.data.retryAt !== undefined) this.#add('retries', 1, labels)
    this.#tokens(usageOf(fact), labels)
  }

  #tokens(usage: Usage | undefined, labels: Labels): void {
    if (usage === undefined) return
    this.#add('tokens', usage.input, { ...labels, 'gen_ai.token.type': 'input' })
    this.#add('tokens', usage.output, { ...labels, 'gen_ai.token.type': 'output' })
  }

  #call(fact: StoredFact, view: WorkInView): void {
    const call = view.calls.get(fact.call ?? '')
    const tool = { 'gen_ai.tool.name': toolName(call) }
    if (fact.type === 'call.refused') this.#add('refused', 1, tool)
    const outcome = outcomeOf(fact)
    if (outcome === null || call?.beganAt == null) return
    this.#add('calls', seconds(call.beganAt, fact), { ...tool, 'landfall.call.outcome': outcome })
  }

  #add(name: MeasureName, value: number, labels: Labels = {}): void {
    this.book.add(name, value, labels)
    this.#recorders.get(name)?.(value, labels)
  }
}

function toolName(call: CallInView | undefined): string {
  return call?.known === true ? call.name : 'unknown'
}

function outcomeOf(fact: StoredFact): string | null {
  if (fact.type === 'call.finished') return fact.data.outcome
  return fact.type === 'call.cancelled' ? 'cancelled' : fact.type === 'call.unknown' ? 'unknown' : null
}

export function usageOf(fact: StoredFact): Usage | undefined {
  if (fact.type === 'model.completed' || fact.type === 'model.failed') return fact.data.usage
  return fact.type === 'model.abandoned' ? fact.data.charged : undefined
}

function seconds(from: number, fact: StoredFact): number {
  return Math.max(0, Date.parse(fact.at) - from) / 1_000
}
