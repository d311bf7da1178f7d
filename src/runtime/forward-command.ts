import { LandfallError } from '../facts/errors.ts'
import type { Scope } from '../facts/scope.ts'
import type { OperatorRequest, Receipt } from './command.ts'
import type { Services } from './services.ts'

const pollMs = 50
/** Polls between two looks whether the owner is gone, so that the entry does not wait for a dead process. */
const pollsPerClaim = 10

/** An answer as it stands in the inbox: a receipt, or the refusal that the sender is to be given. */
export type InboxAnswer =
  | { readonly receipt: Receipt }
  | { readonly error: { readonly code: string; readonly message: string; readonly details: Record<string, unknown> } }

/**
 * Hands a command to the process that owns the session, through the store, and waits for its answer. Should the owner be gone,
 * `wake` takes the session over, and whoever owns it then carries the entry out: once, in order.
 */
export async function forwardCommand(
  services: Services,
  scope: Scope,
  request: OperatorRequest,
  wake: () => Promise<void>,
): Promise<Receipt> {
  const { log, ids, clock, scheduler } = services.host
  const id = request.commandId ?? ids.next()
  const at = new Date(clock.now()).toISOString()
  await log.putInbox(scope, { id, name: request.name, body: JSON.stringify(request.body), at })
  for (let polls = 1; ; polls += 1) {
    const answer = await log.inboxAnswer(scope, id)
    if (answer !== null) return receiptOf(JSON.parse(answer) as InboxAnswer)
    if (services.isClosing())
      throw new LandfallError('SHUTTING_DOWN', 'The command is in the inbox; its owner will carry it out.', {
        details: { command: id },
      })
    if (polls % pollsPerClaim === 0) await wake()
    await new Promise<void>((resolve) => void scheduler.at(clock.now() + pollMs, resolve))
  }
}

function receiptOf(answer: InboxAnswer): Receipt {
  if ('receipt' in answer) return answer.receipt
  const { code, message, details } = answer.error
  throw new LandfallError(code, message, { details })
}
