import type { Attributes } from '@opentelemetry/api'
import type { StoredFact, StoredFactOf } from '../facts/envelope.ts'
import { usageOf } from './fact-meter.ts'

export function scopeAttributes({ tenant, user, session }: StoredFact): Attributes {
  return { 'landfall.tenant': tenant, 'landfall.user': user, 'gen_ai.conversation.id': session }
}

export function requestAttributes({ data }: StoredFactOf<'model.requested'>): Attributes {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': data.model,
    'gen_ai.request.max_tokens': data.maxOutput,
    'landfall.request.purpose': data.purpose,
    'landfall.request.step': data.step,
    'landfall.request.attempt': data.attempt,
    'landfall.request.messages': data.messages,
    'landfall.request.tools': data.tools,
  }
}

export function requestEnd(fact: StoredFact): Attributes {
  const usage = usageOf(fact)
  return {
    ...(usage === undefined
      ? {}
      : { 'gen_ai.usage.input_tokens': usage.input, 'gen_ai.usage.output_tokens': usage.output }),
    ...(fact.type === 'model.completed' ? { 'gen_ai.response.finish_reasons': [fact.data.finish] } : {}),
    ...(fact.type === 'model.failed' ? { 'error.type': fact.data.code } : {}),
    ...(fact.type === 'model.abandoned' ? { 'error.type': fact.data.reason } : {}),
  }
}

export function callAttributes(fact: StoredFactOf<'call.started'>, name: string): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.type': 'function',
    ...(fact.call === null ? {} : { 'gen_ai.tool.call.id': fact.call }),
    'landfall.call.attempt': fact.data.attempt,
  }
}

/** How an attempt of a call ended; null: this fact ends none. */
export function callEnd(fact: StoredFact): Attributes | null {
  switch (fact.type) {
    case 'call.finished': {
      const { outcome, code } = fact.data
      return { 'landfall.call.outcome': outcome, ...(outcome === 'failed' ? { 'error.type': code ?? 'failed' } : {}) }
    }
    case 'call.unknown':
      return { 'landfall.call.outcome': 'unknown', 'error.type': fact.data.reason }
    case 'call.cancelled':
      return { 'landfall.call.outcome': 'cancelled' }
    case 'call.interrupted':
      return { 'landfall.call.outcome': 'interrupted', 'error.type': 'crash' }
    default:
      return null
  }
}

export function taskEnd(
  fact: StoredFactOf<'task.completed' | 'task.failed' | 'task.cancelled' | 'task.superseded'>,
): Attributes {
  const { usage, steps, calls, code } = fact.data
  return {
    'landfall.task.status': fact.type.slice('task.'.length),
    'landfall.task.steps': steps,
    'landfall.task.calls': calls.total,
    'gen_ai.usage.input_tokens': usage.input,
    'gen_ai.usage.output_tokens': usage.output,
    ...(fact.type === 'task.failed' ? { 'error.type': code ?? 'failed' } : {}),
  }
}
