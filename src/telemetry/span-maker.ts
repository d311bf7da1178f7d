import {
  type Attributes,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { StoredFact } from '../facts/envelope.ts'
import type { Redactor } from '../facts/ports.ts'
import type { TracePlace } from '../facts/trace-context.ts'
import type { SpanIds } from './span-ids.ts'

export interface NewSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  /** Milliseconds since the epoch. */
  readonly from: number
  readonly parent?: Span | TracePlace | null
  readonly links?: readonly TracePlace[]
  readonly kind?: number
  readonly attributes: Attributes
}

/** Makes spans and ends them. Nothing gets into one but through the redactor; what it fails on is withheld. */
export class SpanMaker {
  readonly #tracer: Tracer
  readonly #ids: SpanIds | null
  readonly #redactor: Redactor

  constructor(tracer: Tracer, ids: SpanIds | null, redactor: Redactor) {
    this.#tracer = tracer
    this.#ids = ids
    this.#redactor = redactor
  }

  begin({ name, traceId, spanId, from, parent, links = [], kind, attributes }: NewSpan): Span {
    const options = {
      startTime: from,
      attributes: this.clean(attributes),
      links: links.map(linkOf),
      ...(kind === undefined ? {} : { kind }),
    }
    const make = () => this.#tracer.startSpan(this.text(name), options, contextOf(parent ?? null))
    return this.#ids === null ? make() : this.#ids.during({ traceId, spanId }, make)
  }

  end(span: Span, fact: StoredFact | number, attributes: Attributes): void {
    span.setAttributes(this.clean(attributes))
    const error = attributes['error.type']
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(typeof fact === 'number' ? fact : Date.parse(fact.at))
  }

  event(span: Span, name: string, attributes: Attributes, fact: StoredFact): void {
    span.addEvent(name, this.clean(attributes), Date.parse(fact.at))
  }

  clean(attributes: Attributes): Attributes {
    return Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [name, typeof value === 'string' ? this.text(value) : value]),
    )
  }

  text(value: string): string {
    try {
      return this.#redactor.text(value)
    } catch {
      return '[withheld]'
    }
  }
}

function linkOf({ traceId, spanId, flags }: TracePlace): Link {
  return { context: { traceId, spanId, traceFlags: flags } }
}

function contextOf(parent: Span | TracePlace | null): Context {
  if (parent === null) return ROOT_CONTEXT
  if ('spanContext' in parent) return trace.setSpan(ROOT_CONTEXT, parent)
  const { traceId, spanId, flags } = parent
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: flags, isRemote: true })
}
