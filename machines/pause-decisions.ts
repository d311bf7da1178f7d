import type { Decision, PauseReason } from './vocabulary.ts'

/** What may be decided about a pause: a question is answered, a confirmation is given or not, and either may be turned down. */
export const acceptedDecisions: { readonly [R in PauseReason]: readonly Decision[] } = {
  approval: ['approve', 'reject', 'timeout'],
  authorization: ['approve', 'resume', 'reject', 'timeout'],
  external: ['approve', 'resume', 'reject', 'timeout'],
  input: ['resume', 'reject', 'timeout'],
  operator: ['resume', 'reject', 'timeout'],
  acknowledgement: ['resume', 'reject', 'timeout'],
}
