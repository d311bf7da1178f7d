import type { OperatorCommand } from './commands.ts'

const turns: ReadonlySet<OperatorCommand['name']> = new Set(['start', 'followUp', 'supersede'])

/**
 * What the sender of a command is told once its facts stand. Steering waits for the next request, and a turn that does not start with its
 * command waits for its turn; everything else has happened.
 */
export function receiptResult(name: OperatorCommand['name'], starts: boolean): 'applied' | 'queued' {
  if (name === 'steer') return 'queued'
  return turns.has(name) && !starts ? 'queued' : 'applied'
}
