import type { Owner } from '../facts/envelope.ts'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import type { Content, StepAppend, StoredStep } from '../facts/log-port.ts'
import { controlScope, scopeKey } from '../facts/scope.ts'

/** What a driver knows of a session when a step arrives, read in the transaction of the append. */
export interface SessionHead {
  readonly seq: number
  readonly step: number
  readonly hash: string
  readonly lastId: string
  readonly owner: Owner | null
  readonly erased: boolean
}

/** `redelivery`: the step claims a place that is taken; the driver reads what is there and asks `settleRedelivery`. */
export type Verdict = 'write' | 'redelivery' | LandfallError

/**
 * The one rule of admission for all drivers. The owner comes first, so that a stale one learns nothing and may not even redeliver.
 * A redelivery comes before the control version: what was committed under an older version stays committed.
 */
export function admit(step: StepAppend, head: SessionHead, control: number): Verdict {
  if (!ownsSession(step, head)) return ownershipLost(step)
  if (step.firstSeq <= head.seq) return 'redelivery'
  if (step.control !== undefined && step.control !== control) return controlStale(step.control, control)
  if (head.erased) return new LandfallError('SESSION_ERASED', 'The session was erased. Use another session id.')
  return gap(step, head) ?? oversized([...step.contents, ...step.shared]) ?? 'write'
}

/** Null when what is stored is the very step that came again. */
export function settleRedelivery(step: StepAppend, stored: StoredStep | undefined): LandfallError | null {
  const same =
    stored !== undefined &&
    stored.firstSeq === step.firstSeq &&
    stored.step === step.step &&
    stored.count === step.count &&
    stored.hash === step.hash &&
    stored.body === step.body
  return same ? null : conflict('another step is stored at this place', { seq: step.firstSeq, step: step.step })
}

export function isControl(step: StepAppend): boolean {
  return scopeKey(step.scope) === scopeKey(controlScope)
}

function ownsSession(step: StepAppend, head: SessionHead): boolean {
  if (step.owner === null) return isControl(step)
  return head.owner !== null && head.owner.id === step.owner.id && head.owner.epoch === step.owner.epoch
}

function gap(step: StepAppend, head: SessionHead): LandfallError | null {
  if (step.firstSeq !== head.seq + 1)
    return conflict('seq would have a hole', { expected: head.seq + 1, got: step.firstSeq })
  if (step.step !== head.step + 1)
    return conflict('step would have a hole', { expected: head.step + 1, got: step.step })
  if (step.prev !== head.hash) return conflict('the chain would break', { seq: step.firstSeq })
  if (step.firstId <= head.lastId) return conflict('a fact id is used again', { seq: step.firstSeq, id: step.firstId })
  return null
}

function oversized(contents: readonly Content[]): LandfallError | null {
  for (const { body, digest } of contents) {
    // A UTF-16 unit takes at most three bytes, so most bodies need no counting.
    if (body.length * 3 <= limits.contentBytes) continue
    const got = Buffer.byteLength(body)
    if (got <= limits.contentBytes) continue
    return new LandfallError('LIMIT_EXCEEDED', 'A piece of content is larger than the bound. Send less at once.', {
      details: { which: 'contentBytes', bound: limits.contentBytes, got, digest },
    })
  }
  return null
}

function conflict(what: string, details: Readonly<Record<string, unknown>>): LandfallError {
  return new LandfallError(
    'EVENT_CONFLICT',
    `The log refuses the step: ${what}. Read the session again and decide anew.`,
    {
      details: { what, ...details },
    },
  )
}

function ownershipLost(step: StepAppend): LandfallError {
  return new LandfallError(
    'OWNERSHIP_LOST',
    'Another process owns the session now. Send the command again; it will be forwarded.',
    {
      details: { session: step.scope.session, epoch: step.owner?.epoch ?? null },
    },
  )
}

function controlStale(got: number, current: number): LandfallError {
  return new LandfallError('CONTROL_STALE', 'The control stream has moved on. Decide the step again.', {
    retryable: true,
    details: { got, current },
  })
}
