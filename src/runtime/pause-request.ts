import type { CallReturn } from '../../machines/commands.ts'
import type { PauseRequest } from '../capabilities/define-tool.ts'
import { isFullOfPauses } from './expand-pauses.ts'
import { freeText } from './free-text.ts'
import { newToken } from './pause-token.ts'
import type { Step } from './step.ts'

type Paused = Extract<CallReturn, { how: 'paused' }>

const reasons: readonly string[] = ['approval', 'authorization', 'input', 'external'] satisfies Paused['reason'][]

/** What `ctx.pause` asked for, as facts take it; or why it cannot be had. A tool is host code, and may say anything. */
export function pausedBy(step: Step, request: PauseRequest): Paused | { readonly code: string; readonly text: string } {
  const { reason, subject, deadline } = request ?? {}
  if (!reasons.includes(reason)) return invalid('a reason that there is not')
  if (subject !== undefined && typeof subject !== 'string') return invalid('a subject that is no text')
  const due = deadline === undefined ? null : Date.parse(deadline)
  if (due !== null && !(due <= step.now + step.base.host.limits.deadlineMs))
    return invalid('a deadline that is no time, or too far away')
  if (isFullOfPauses(step))
    return { code: 'LIMIT_EXCEEDED', text: refusalText('LIMIT_EXCEEDED', 'Too many pauses are open in this session.') }
  return {
    how: 'paused',
    token: newToken(step),
    reason,
    ...(subject === undefined ? {} : { subject: freeText(step.base.host.redactor, subject) }),
    ...(due === null ? {} : { deadline: new Date(due).toISOString() }),
  }
}

function invalid(what: string): { code: string; text: string } {
  return { code: 'INVALID_INPUT', text: refusalText('INVALID_INPUT', `The tool asked for a pause with ${what}.`) }
}

function refusalText(code: string, message: string): string {
  return JSON.stringify({ error: { code, message } })
}
