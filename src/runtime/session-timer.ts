import { decideDue, nextDeadline } from '../../machines/decide-results.ts'
import type { Standstill } from '../../machines/task-context.ts'
import type { Time } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import type { InternalRequest } from './command.ts'
import type { Host } from './options.ts'

/**
 * Owns: the one timer of a session, for the earliest deadline that its facts hold.
 * 1. The timer is derived from the folded state after every step and after every opening; nothing else arms it.
 * 2. What is due is decided in the mailbox, by the state of that moment.
 */
export class SessionTimer {
  readonly #host: Host
  readonly #post: (request: InternalRequest) => void
  #at: Time | null = null
  #cancel: (() => void) | null = null

  constructor(host: Host, post: (request: InternalRequest) => void) {
    this.#host = host
    this.#post = post
  }

  arm(world: World): void {
    const next = nextDeadline(world, moved)
    if (next === this.#at) return
    this.clear()
    if (next === null) return
    this.#at = next
    this.#cancel = this.#host.scheduler.at(Date.parse(next), () => this.#fire())
  }

  clear(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#at = null
  }

  #fire(): void {
    this.#at = null
    this.#cancel = null
    this.#post({
      cause: null,
      by: { kind: 'runtime', id: 'timer' },
      agenda: (step, world) => decideDue(world, step.after(0), moved),
    })
  }
}

function moved(deadline: Time, standstills: readonly Standstill[]): Time {
  let at = Date.parse(deadline)
  for (const { from, to } of standstills) at += Date.parse(to) - Date.parse(from)
  return new Date(at).toISOString()
}
