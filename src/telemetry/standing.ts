import type { StoredFact } from '../facts/envelope.ts'
import { scopeKey } from '../facts/scope.ts'

type Kind = 'queued' | 'active' | 'quarantined' | 'pauses'

/**
 * Owns: what of the sessions of this process stands now, as ids by kind.
 * 1. A session that was erased, or that another process has taken over, counts no more here.
 */
export class Standing {
  readonly #held: { readonly [K in Kind]: Map<string, string> } = {
    queued: new Map(),
    active: new Map(),
    quarantined: new Map(),
    pauses: new Map(),
  }

  get counts(): { readonly [K in Kind]: number } {
    const { queued, active, quarantined, pauses } = this.#held
    return { queued: queued.size, active: active.size, quarantined: quarantined.size, pauses: pauses.size }
  }

  put(kind: Kind, session: string, ids: readonly string[]): void {
    for (const id of ids) this.#held[kind].set(id, session)
  }

  drop(session: string): void {
    for (const held of Object.values(this.#held)) for (const [id, whose] of held) if (whose === session) held.delete(id)
  }

  note(fact: StoredFact): void {
    const { queued, active, quarantined, pauses } = this.#held
    const session = scopeKey(fact)
    const task = fact.task ?? ''
    switch (fact.type) {
      case 'task.created':
        return void queued.set(task, session)
      case 'task.started':
      case 'run.resumed':
        queued.delete(task)
        return void active.set(task, session)
      case 'task.completed':
      case 'task.failed':
      case 'task.cancelled':
      case 'task.superseded':
        queued.delete(task)
        return void active.delete(task)
      case 'mutation.quarantined':
        return this.put('quarantined', session, fact.data.calls)
      case 'mutation.acknowledged':
        for (const call of fact.data.calls) quarantined.delete(call)
        return
      case 'pause.requested':
        return void pauses.set(fact.data.token, session)
      case 'pause.settled':
        return void pauses.delete(fact.data.token)
      case 'session.erased':
        return this.drop(session)
    }
  }
}
