import type { StoredFact } from '../facts/envelope.ts'
import { usageOf } from './fact-meter.ts'
import type { WorkInView } from './work-in-view.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'

export interface FactLine {
  readonly level: Level
  readonly message: string
  readonly fields: { readonly [name: string]: unknown }
}

/** Facts that are worth a line, and how urgent they are. What is not here is in the log of facts, for who wants all of it. */
const levels: { readonly [type: string]: Level } = {
  'session.opened': 'info',
  'session.owned': 'info',
  'session.restored': 'info',
  'session.closed': 'info',
  'session.reopened': 'info',
  'session.erased': 'warn',
  'settings.changed': 'info',
  'command.accepted': 'debug',
  'task.created': 'info',
  'task.blocked': 'warn',
  'task.started': 'info',
  'task.cancelling': 'info',
  'task.paused': 'info',
  'task.resumed': 'info',
  'task.completed': 'info',
  'task.failed': 'error',
  'task.cancelled': 'info',
  'task.superseded': 'info',
  'run.resumed': 'warn',
  'model.requested': 'debug',
  'model.completed': 'info',
  'model.failed': 'warn',
  'model.abandoned': 'warn',
  'budget.warning': 'warn',
  'budget.exceeded': 'warn',
  'context.compacted': 'info',
  'capability.refused': 'warn',
  'capability.revoked': 'warn',
  'provider.disabled': 'warn',
  'provider.enabled': 'info',
  'grant.reduced': 'info',
  'call.refused': 'warn',
  'call.held': 'info',
  'call.started': 'debug',
  'call.finished': 'info',
  'call.cancelled': 'info',
  'call.unknown': 'error',
  'call.late': 'warn',
  'mutation.quarantined': 'error',
  'mutation.acknowledged': 'info',
  'pause.requested': 'info',
  'pause.settled': 'info',
  'group.resolved': 'info',
  'audit.elevated': 'info',
  'audit.redaction_failed': 'error',
}

/** Fields that are words of ours, codes, counts and ids. Free text and digests stay in the fact. */
const told = [
  'kind',
  'origin',
  'status',
  'code',
  'purpose',
  'step',
  'attempt',
  'finish',
  'durationMs',
  'outcome',
  'when',
  'effect',
  'what',
  'used',
  'limit',
  'percent',
  'retryAt',
  'calls',
  'decision',
  'actor',
  'surface',
  'field',
  'epoch',
  'id',
] as const

/** Null: this type is worth no line. */
export function factLine(fact: StoredFact, view: WorkInView): FactLine | null {
  const level = levels[fact.type]
  if (level === undefined) return null
  const { tenant, user, session, task, run, call, seq, cursor, type, at } = fact
  const data = Object.fromEntries(
    told.flatMap((name) => {
      const value: unknown = Reflect.get(fact.data, name)
      return value === undefined || (typeof value === 'object' && !isIds(value)) ? [] : [[name, value]]
    }),
  )
  const usage = usageOf(fact)
  return {
    level,
    message: type,
    fields: {
      ...data,
      ...words(fact),
      ...nameOf(fact, view),
      ...(usage === undefined ? {} : { usage }),
      type,
      at,
      tenant,
      user,
      session,
      ...(task === null ? {} : { task }),
      ...(run === null ? {} : { run }),
      ...(call === null ? {} : { call }),
      seq,
      cursor,
    },
  }
}

function isIds(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

/** `reason` is a word of ours in these, and free text elsewhere. */
function words(fact: StoredFact): { reason?: string } {
  switch (fact.type) {
    case 'run.resumed':
    case 'model.abandoned':
    case 'call.held':
    case 'call.unknown':
    case 'pause.requested':
      return { reason: fact.data.reason }
    default:
      return {}
  }
}

function nameOf(fact: StoredFact, view: WorkInView): { tool?: string; model?: string } {
  const call = view.calls.get(fact.call ?? '')
  const request = fact.type.startsWith('model.') ? view.requests.get(fact.task ?? '') : undefined
  return {
    ...(call === undefined ? {} : { tool: call.known ? call.name : 'unknown' }),
    ...(request === undefined ? {} : { model: request.model }),
  }
}
