import type { CallRecord } from '../../machines/world.ts'

/** The one result that a call without a result of its own gets, so that the conversation stays valid. Says what is known. */
export function syntheticResult(call: CallRecord): string {
  if (call.refusal !== null) return `Refused (${call.refusal}). The call was not started and had no effect.`
  if (call.unknown !== null)
    return call.effect === 'mutate'
      ? `Outcome unknown (${call.unknown}). The change may or may not have happened. Do not repeat it; verify first.`
      : `Outcome unknown (${call.unknown}). Verify before trying again.`
  switch (call.cancelled) {
    case 'before_start':
      return 'Not started: the turn was cancelled before this call began. It had no effect.'
    case 'withdrawn':
      return 'Not started: new input from the operator came first. It had no effect.'
    case 'acknowledged':
      return 'Cancelled: the call stopped when it was told to. It may have done part of its work.'
    default:
      return 'Cancelled: the call was interrupted and gave no result.'
  }
}
