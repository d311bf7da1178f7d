import {
  type ActorLogic,
  type ActorRefFrom,
  type AnyActorRef,
  createActor,
  type EventObject,
  type Snapshot,
} from 'xstate'
import type { Bus } from '../../bus/bus.ts'
import { type Scope, scopeKey } from '../../facts/scope.ts'
import { shuttingDown } from '../claim-session.ts'
import type { Host } from '../options.ts'
import { living, stopped } from './actor-view.ts'
import { calmInspection } from './calm-inspection.ts'
import type { OperatorPort } from './operator-event.ts'
import { SessionProjection } from './session-projection.ts'

type RootSnapshot = Snapshot<unknown> & { readonly children: { readonly [session: string]: AnyActorRef } }
type RootLogic = ActorLogic<RootSnapshot, EventObject, undefined>
/** Above all sessions: `runtime.actor.system` is where inspectors attach and where actors are found by id. */
export type RootActorRef = ActorRefFrom<RootLogic>

/**
 * Owns: the one XState actor system of a runtime, and the projections of the sessions that somebody asked for.
 * 1. Nothing is in it, and nothing is paid for it, until an actor is asked for.
 * 2. When the runtime closes, every actor stops, and none is made after that.
 */
export class ActorSystem {
  readonly #host: Host
  readonly #bus: Bus
  readonly #projections = new Map<string, SessionProjection>()
  readonly #leaving = new WeakMap<EventObject, AnyActorRef>()
  readonly root: RootActorRef
  #over = false

  constructor(host: Host, bus: Bus) {
    this.#host = host
    this.#bus = bus
    this.root = createActor(this.#rootLogic(), { id: 'landfall', input: undefined }).start()
    calmInspection(this.root.system)
  }

  session(scope: Scope, port: OperatorPort): SessionProjection {
    if (this.#over) throw shuttingDown()
    const key = scopeKey(scope)
    const known = this.#projections.get(key)
    if (known !== undefined) return known
    const parts = { host: this.#host, bus: this.#bus, root: this.root }
    const projection: SessionProjection = new SessionProjection(scope, parts, {
      port,
      onRelease: () => this.#release(key),
      onEnd: () => this.#forget(key, projection),
    })
    this.#projections.set(key, projection)
    this.root.send({ type: 'landfall.opened' })
    return projection
  }

  close(): void {
    this.#over = true
    for (const projection of this.#projections.values()) projection.close()
    this.root.stop()
    this.#projections.clear()
  }

  /** Its actor has ended already; the next one that is asked for reads the log again. */
  #forget(key: string, projection: SessionProjection): void {
    if (this.#over || this.#projections.get(key) !== projection) return
    this.#projections.delete(key)
    this.root.send({ type: 'landfall.ended' })
  }

  /** An actor may only be stopped by its parent. */
  #release(key: string): void {
    const projection = this.#projections.get(key)
    if (projection === undefined) return
    this.#projections.delete(key)
    projection.close()
    const event = { type: 'landfall.released' }
    this.#leaving.set(event, projection.actor)
    this.root.send(event)
  }

  #rootLogic(): RootLogic {
    return {
      config: { id: 'landfall' },
      getInitialSnapshot: () => ({ ...living, children: {} }),
      getPersistedSnapshot: (snapshot) => snapshot,
      transition: (snapshot, event, scope) => {
        const child = this.#leaving.get(event)
        if (child !== undefined) scope.stopChild(child)
        const sessions = [...this.#projections.values()].map(({ actor }) => actor)
        const children = Object.fromEntries(sessions.map((actor) => [actor.id, actor]))
        if (event.type !== 'xstate.stop') return { ...snapshot, children }
        for (const actor of sessions) scope.stopChild(actor)
        return { ...stopped, children: {} }
      },
    }
  }
}
