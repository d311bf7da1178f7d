import type { Effect } from '../../machines/vocabulary.ts'
import type { PauseRequest } from '../capabilities/define-tool.ts'
import { wellFormedText } from '../facts/digest.ts'
import { isOutcomeUnknown } from '../facts/errors.ts'
import type { Redactor } from '../facts/ports.ts'
import { type SafeCode, safeCode } from './safe-code.ts'
import { PauseSignal } from './tool-context.ts'

interface Thrown {
  readonly text: string
  readonly code: string
  /** Parts of the error that the redactor failed on; they went nowhere. */
  readonly withheld?: readonly string[]
}

/** How an attempt came back, before its text has a digest. */
export type ToolReturn =
  | { readonly how: 'returned'; readonly text: string }
  | (Thrown & { readonly how: 'threw'; readonly beforeAbort: boolean })
  | (Thrown & { readonly how: 'lost' })
  | { readonly how: 'acknowledged' }
  | { readonly how: 'paused'; readonly request: PauseRequest }

interface Judge {
  readonly redactor: Redactor
  readonly effect: Effect
  readonly isAborted: () => boolean
  readonly isAcknowledgement: (error: unknown) => boolean
  /** Bytes of the largest result that is kept. */
  readonly maxBytes: number
}

/** Runs an attempt to its end. Never rejects: everything that a tool can do wrong is a way of coming back. */
export async function returnOf(run: () => Promise<unknown>, judge: Judge): Promise<ToolReturn> {
  try {
    const returned = textOf(await run(), judge)
    return returned.how === 'returned' && Buffer.byteLength(returned.text) > judge.maxBytes
      ? unusable(judge, 'OUTPUT_LIMIT', 'is too large. Ask for less.')
      : returned
  } catch (error) {
    const beforeAbort = !judge.isAborted()
    if (error instanceof PauseSignal) return { how: 'paused', request: error.request }
    if (!beforeAbort && judge.isAcknowledgement(error)) return { how: 'acknowledged' }
    const told = toldOf(error, judge)
    if (isOutcomeUnknown(error)) return { ...told, how: 'lost', code: 'OUTCOME_UNKNOWN' }
    return { ...told, how: 'threw', beforeAbort }
  }
}

/** What the model reads: a string as it is, anything else as JSON. */
function textOf(value: unknown, judge: Judge): ToolReturn {
  if (typeof value === 'string') return { how: 'returned', text: wellFormedText(value) }
  try {
    return { how: 'returned', text: JSON.stringify(value) ?? 'null' }
  } catch {
    return unusable(judge, 'OUTPUT_INVALID', 'is not JSON.')
  }
}

/** A read is worth its result and failed without one; of any other tool the effect is there, and must not be tried again. */
function unusable({ effect }: Judge, code: string, why: string): ToolReturn {
  if (effect !== 'read')
    return { how: 'returned', text: `The tool succeeded: its effect stands. What it returned ${why} (${code})` }
  return { how: 'threw', text: `The tool ended, but what it returned ${why}`, code, beforeAbort: true }
}

/** An abort is acknowledged with the signal's own reason, or with an AbortError of the tool's. */
export function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError')
}

function codeOf(error: unknown, redactor: Redactor): SafeCode {
  try {
    return safeCode(redactor, (error as { code?: unknown } | null)?.code, 'TOOL_FAILED')
  } catch {
    // A getter may throw; what is thrown may be anything.
  }
  return { code: 'TOOL_FAILED', withheld: false }
}

/** What a tool throws may be anything, also what cannot be made text; the code alone is told then. */
function toldOf(error: unknown, judge: Judge): Thrown {
  const { code, withheld } = codeOf(error, judge.redactor)
  const message = cleanMessage(error, judge.redactor)
  const told = JSON.stringify({ error: { code, ...(message === null || message === '' ? {} : { message }) } })
  const text = Buffer.byteLength(told) <= judge.maxBytes ? told : JSON.stringify({ error: { code } })
  const lost = [...(withheld ? ['code'] : []), ...(message === null ? ['message'] : [])]
  return { text, code, ...(lost.length === 0 ? {} : { withheld: lost }) }
}

/** Null: it went nowhere, because the redactor failed. */
function cleanMessage(error: unknown, redactor: Redactor): string | null {
  let message: string
  try {
    message = error instanceof Error ? String(error.message) : String(error)
  } catch {
    return ''
  }
  try {
    return redactor.text(message)
  } catch {
    return null
  }
}
