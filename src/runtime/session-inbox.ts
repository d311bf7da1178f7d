import type { Owner } from '../facts/envelope.ts'
import { isLandfallError } from '../facts/errors.ts'
import type { InboxEntry } from '../facts/log-port.ts'
import type { Scope } from '../facts/scope.ts'
import type { OperatorRequest, Receipt } from './command.ts'
import { checkBody, isCommandName } from './command-bodies.ts'
import type { InboxAnswer } from './forward-command.ts'
import { operatorRequest } from './operator-requests.ts'
import type { Host } from './options.ts'

/** An entry that is being carried out; `settled` once its answer stands in the step that did it. */
export interface Carried {
  readonly id: string
  settled: boolean
}

export interface InboxPorts {
  /** null: this process does not own the session, or not any more. */
  readonly owner: () => Owner | null
  readonly carryOut: (request: OperatorRequest, carried: Carried) => Promise<Receipt>
}

const entriesPerLook = 64

/**
 * Owns: how the inbox of one session is emptied by its owner.
 * 1. Entries are carried out in their order, each once: its id is its command's id, so a repeat finds the first receipt.
 * 2. An accepted one is answered and removed in the step that carries it out; a refused one on its own, under the same fence.
 */
export class SessionInbox {
  readonly #host: Host
  readonly #scope: Scope
  readonly #ports: InboxPorts

  constructor(host: Host, scope: Scope, ports: InboxPorts) {
    this.#host = host
    this.#scope = scope
    this.#ports = ports
  }

  async carry(): Promise<void> {
    const { log } = this.#host
    if (this.#ports.owner() === null) return
    for (const entry of await log.inbox(this.#scope, entriesPerLook)) {
      const carried = { id: entry.id, settled: false }
      const answer = await this.#answer(entry, carried)
      const owner = this.#ports.owner()
      if (owner === null) return
      if (!carried.settled) await log.settleInbox(this.#scope, owner, { id: entry.id, answer: JSON.stringify(answer) })
    }
  }

  /** A refusal is an answer; a store that failed is not, and is thrown: the entry stays for later. */
  async #answer(entry: InboxEntry, carried: Carried): Promise<InboxAnswer> {
    try {
      const { id, name } = entry
      if (!isCommandName(name)) return told('INVALID_INPUT', 'No command has this name.', {})
      const body = checkBody(name, JSON.parse(entry.body))
      const request = operatorRequest(this.#host, this.#scope, { name, body, commandId: id })
      return { receipt: await this.#ports.carryOut(request, carried) }
    } catch (error) {
      if (!isLandfallError(error))
        return told('INTERNAL', 'The owner could not carry it out. Report this as a bug.', {})
      if (error.retryable) throw error
      return told(error.code, error.message, error.details)
    }
  }
}

function told(code: string, message: string, details: Readonly<Record<string, unknown>>): InboxAnswer {
  return { error: { code, message, details: { ...details } } }
}
