import type { PauseRequest } from '../capabilities/define-tool.ts'
import { wellFormedText } from '../facts/digest.ts'
import { isLandfallError, isOutcomeUnknown } from '../facts/errors.ts'
import type { Redactor } from '../facts/ports.ts'
import { PauseSignal } from './tool-context.ts'

/** How an attempt came back, before its text has a digest. */
export type ToolReturn =
  | { readonly how: 'returned'; readonly text: string }
  | { readonly how: 'threw'; readonly text: string; readonly code: string; readonly beforeAbort: boolean }
  | { readonly how: 'lost'; readonly text: string; readonly code: string }
  | { readonly how: 'acknowledged' }
  | { readonly how: 'paused'; readonly request: PauseRequest }

interface Judge {
  readonly redactor: Redactor
  readonly isAborted: () => boolean
  readonly isAcknowledgement: (error: unknown) => boolean
}

/** Runs an attempt to its end. Never rejects: everything that a tool can do wrong is a way of coming back. */
export async function returnOf(run: () => Promise<unknown>, judge: Judge): Promise<ToolReturn> {
  try {
    return textOf(await run(), judge)
  } catch (error) {
    const beforeAbort = !judge.isAborted()
    if (error instanceof PauseSignal) return { how: 'paused', request: error.request }
    if (!beforeAbort && judge.isAcknowledgement(error)) return { how: 'acknowledged' }
    const text = errorText(error, judge.redactor)
    if (isOutcomeUnknown(error)) return { how: 'lost', text, code: 'OUTCOME_UNKNOWN' }
    return { how: 'threw', text, code: codeOf(error), beforeAbort }
  }
}

/** What the model reads: a string as it is, anything else as JSON. */
function textOf(value: unknown, judge: Judge): ToolReturn {
  if (typeof value === 'string') return { how: 'returned', text: wellFormedText(value) }
  try {
    return { how: 'returned', text: JSON.stringify(value) ?? 'null' }
  } catch {
    const text = 'The tool ended, but what it returned is not JSON. Its effect may stand; check before trying again.'
    return { how: 'threw', text, code: 'OUTPUT_INVALID', beforeAbort: !judge.isAborted() }
  }
}

/** An abort is acknowledged with the signal's own reason, or with an AbortError of the tool's. */
export function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError')
}

function codeOf(error: unknown): string {
  if (isLandfallError(error)) return error.code
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : 'TOOL_FAILED'
}

/** What a tool throws may be anything, also what cannot be made text. */
function errorText(error: unknown, redactor: Redactor): string {
  try {
    const message = error instanceof Error ? error.message : String(error)
    return JSON.stringify({ error: { code: codeOf(error), message: redactor.text(message) } })
  } catch {
    return JSON.stringify({ error: { code: codeOf(error) } })
  }
}
