import { hash } from 'node:crypto'

/** Version 00 of W3C trace context; ids of zeros alone are none. */
export const traceparentForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** A place in a trace. */
export interface TracePlace {
  readonly traceId: string
  readonly spanId: string
  /** 1: it is recorded. */
  readonly flags: number
}

function digestOf(name: string, chars: number): string {
  return hash('sha256', name, 'hex').slice(0, chars)
}

/** The trace of what has this id, where nobody brought one: every process that reads the log comes to the same. */
export function traceIdOf(id: string): string {
  return digestOf(`trace ${id}`, 32)
}

/** The span that begins with a fact, by the fact's id; the whole of a task, by the task's id. */
export function spanIdOf(id: string): string {
  return digestOf(`span ${id}`, 16)
}

/** Null for what is no traceparent. */
export function readTraceparent(text: string | undefined): TracePlace | null {
  if (text === undefined || !traceparentForm.test(text)) return null
  const [, traceId = '', spanId = '', flags = ''] = text.split('-')
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** What a call or a request passes on: its own span in the trace of its task. */
export function traceparentOf(task: string, inbound: string | undefined, fact: string): string {
  const place = readTraceparent(inbound)
  const flags = (place?.flags ?? 1).toString(16).padStart(2, '0')
  return `00-${place?.traceId ?? traceIdOf(task)}-${spanIdOf(fact)}-${flags}`
}
