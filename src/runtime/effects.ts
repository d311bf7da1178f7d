import type { Intent } from '../../machines/agenda.ts'
import { CallEffects } from './call-effects.ts'
import type { Mailbox } from './mailbox.ts'
import { RequestEffects } from './request-effects.ts'
import type { Services } from './services.ts'

/**
 * Performs the intents of durable steps, and nothing else. Every result goes back into the mailbox.
 * Before each effect that begins something, the lease must still stand: an owner that was taken for dead starts nothing.
 */
export class Effects {
  readonly #services: Services
  readonly #requests: RequestEffects
  readonly #calls: CallEffects

  constructor(session: Mailbox, services: Services) {
    this.#services = services
    this.#requests = new RequestEffects(session, services)
    this.#calls = new CallEffects(session, services)
  }

  perform(intent: Intent): void {
    switch (intent.type) {
      case 'sendRequest':
        if (this.#leaseStands()) this.#requests.send(intent.task)
        return
      case 'abortRequest':
        return this.#requests.abort(intent.task)
      case 'performCall':
        if (this.#leaseStands()) this.#calls.perform(intent)
        return
      case 'abortCall':
        return this.#calls.abort(intent.call, intent.reason)
      case 'verifyCall':
        if (this.#leaseStands()) this.#calls.verify(intent.call)
        return
      case 'announcePause':
        return
    }
  }

  /** Bytes that the request in flight of a task has received. */
  received(task: string): number {
    return this.#requests.received(task)
  }

  get inFlight(): number {
    return this.#requests.size + this.#calls.size
  }

  /** Aborts everything without waiting: somebody else owns the session now, or the runtime is gone. */
  abandon(): void {
    this.#requests.abandon()
    this.#calls.abandon()
  }

  #leaseStands(): boolean {
    return this.#services.host.clock.now() < this.#services.lease.until
  }
}
