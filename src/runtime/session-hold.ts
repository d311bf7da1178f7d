import type { TerminalData } from '../../machines/facts-of-work.ts'
import { endedStatus } from '../../machines/session-context.ts'
import type { World } from '../../machines/world.ts'
import type { StoredFact, StoredFactOf } from '../facts/envelope.ts'
import type { StepAppend } from '../facts/log-port.ts'
import type { Scope } from '../facts/scope.ts'
import { Bodies } from './bodies.ts'
import { buildDesk } from './desk-builder.ts'
import type { Ended } from './ended.ts'
import { loadNewest } from './load-world.ts'
import type { Services } from './services.ts'
import type { Head, StepBase } from './step.ts'
import type { TaskDesk } from './task-desk.ts'

/**
 * Owns: what a live session holds in memory.
 * 1. `world` is the fold of the log up to `head`, or of the one step that is being committed.
 */
export class Held {
  readonly world: World
  readonly bodies: Bodies
  readonly desks = new Map<string, TaskDesk>()
  readonly key: string
  /** The key is not in the store yet: the session opens with the next step. */
  isNew: boolean
  head: Head
  /** Newest request of each task, and the start of each call: what their effects refer to. */
  readonly lastRequest = new Map<string, StoredFactOf<'model.requested'>>()
  readonly lastStart = new Map<string, string>()
  /** The snapshot that it was read from. */
  readonly snapshot: { readonly revision: number; readonly seq: number }
  readonly #onEnd: (ended: Ended) => void

  constructor(parts: {
    world: World
    bodies: Bodies
    key: string
    isNew: boolean
    head: Head
    snapshot: { readonly revision: number; readonly seq: number }
    onEnd: (ended: Ended) => void
  }) {
    this.world = parts.world
    this.bodies = parts.bodies
    this.key = parts.key
    this.isNew = parts.isNew
    this.head = parts.head
    this.snapshot = parts.snapshot
    this.#onEnd = parts.onEnd
  }

  isIdle(): boolean {
    return this.world.tasks.size === 0
  }

  moveTo(append: StepAppend): void {
    this.head = {
      seq: append.firstSeq + append.count - 1,
      step: append.step,
      hash: append.hash,
      lastId: append.lastId,
    }
    this.isNew = false
    for (const content of append.shared) this.bodies.stored.add(content.digest)
  }

  /** Tells those who wait for the outcome of a task that ended in this step. */
  settle(facts: readonly StoredFact[]): void {
    /** The view of a background task goes with it. */
    let isOver = false
    for (const fact of facts) {
      if (fact.type === 'model.requested' && fact.task !== null) this.lastRequest.set(fact.task, fact)
      if (fact.type === 'context.compacted') this.bodies.prune(this.world)
      if (fact.type === 'call.started' && fact.call !== null) this.lastStart.set(fact.call, fact.id)
      if (endedStatus(fact) === null || fact.task === null) continue
      const data = fact.data as TerminalData
      const text = data.messageId === undefined ? null : (this.bodies.messages.get(data.messageId)?.content ?? null)
      this.lastRequest.delete(fact.task)
      if (this.world.taskRecords.get(fact.task)?.created.kind === 'background') isOver = true
      this.#onEnd({ task: fact.task, seq: fact.seq, type: fact.type, data, text })
    }
    if (isOver) this.bodies.prune(this.world)
  }
}

/** Reads a session into memory, with all content that its next steps can ask for. */
export async function hold(services: Services, scope: Scope): Promise<Held> {
  const { host } = services
  while (host.fair.spent) await host.fair.turn()
  const [stored, loaded] = [await host.log.head(scope), await loadNewest(host.log, scope)]
  // An erased session has no content any more, and none of its steps asks for any: it only refuses.
  const isErased = loaded.world.session?.matches({ lifecycle: 'erased' }) === true
  const bodies = isErased ? new Bodies() : await Bodies.hydrate(loaded.world, host.log, scope)
  const isNew = stored?.key === undefined && loaded.seq === 0
  const key = stored?.key ?? Buffer.from(host.random.bytes(32)).toString('hex')
  const held = new Held({
    world: loaded.world,
    bodies,
    key,
    isNew,
    snapshot: loaded.snapshot,
    head: { seq: loaded.seq, step: loaded.step, hash: loaded.hash, lastId: loaded.lastId },
    onEnd: (ended) => services.onEnd(scope, ended),
  })
  for (const record of loaded.world.taskRecords.values())
    if (record.ended === null && record.started !== null)
      held.desks.set(record.id, buildDesk({ host, world: loaded.world, bodies, key }, record))
  return held
}

/** What a step is planned on: the session in memory, and what its runtime adds. */
export function baseOf(held: Held, added: Omit<StepBase, 'world' | 'bodies' | 'desks' | 'key' | 'head'>): StepBase {
  const { world, bodies, desks, key, head } = held
  return { world, bodies, desks, key, head, ...added }
}
