import type { AnyActorRef, InspectionEvent, Snapshot } from 'xstate'
import type { Clock, Ids } from '../facts/ports.ts'
import { systemClock, systemIds } from '../facts/system-ports.ts'

interface MessageBase {
  readonly id: string
  readonly rootId: string
  readonly sessionId: string
  readonly createdAt: string
  readonly _version: string
}

/** A message as the Stately inspector reads it, as plain JSON. */
export type StatelyMessage = MessageBase &
  (
    | {
        readonly type: '@xstate.actor'
        readonly name: string
        readonly parentId: string | undefined
        /** The chart as JSON text, with functions reduced to their names. */
        readonly definition: string | undefined
        readonly snapshot: unknown
      }
    | { readonly type: '@xstate.event'; readonly sourceId: string | undefined; readonly event: object }
    | { readonly type: '@xstate.snapshot'; readonly snapshot: unknown; readonly event: object }
  )

export interface StatelyOptions {
  readonly clock?: Clock
  readonly ids?: Ids
}

const protocolVersion = '0.7.2'

/**
 * Tells everything that happens in the actor system of `root` in the message format of the Stately inspector, beginning with the
 * actors that are there already. The host decides where messages go; nothing is sent anywhere by itself. Returns what ends it.
 */
export function statelyMessages(
  root: AnyActorRef,
  send: (message: StatelyMessage) => void,
  options: StatelyOptions = {},
): () => void {
  const { clock = systemClock, ids = systemIds() } = options
  const base = (actor: AnyActorRef): MessageBase => ({
    id: ids.next(),
    rootId: root.sessionId,
    sessionId: actor.sessionId,
    createdAt: new Date(clock.now()).toISOString(),
    _version: protocolVersion,
  })
  const introduce = (actor: AnyActorRef) => send({ ...base(actor), ...actorMessage(actor) })
  for (const actor of below(root)) introduce(actor)
  /** XState tells of an actor before it has a snapshot; it is introduced when it has one, before anything else is told of it. */
  let unborn: readonly AnyActorRef[] = []
  const subscription = root.system.inspect((event: InspectionEvent) => {
    const actor = event.actorRef as AnyActorRef
    if (event.type === '@xstate.actor') {
      unborn = [...unborn, actor]
      return
    }
    const born = unborn.filter(hasSnapshot)
    unborn = unborn.filter((each) => !born.includes(each))
    for (const each of born) introduce(each)
    const message = messageOf(event)
    if (message !== null) send({ ...base(actor), ...message })
  })
  return () => subscription.unsubscribe()
}

type Bare = StatelyMessage extends infer M ? (M extends StatelyMessage ? Omit<M, keyof MessageBase> : never) : never

function messageOf(inspected: InspectionEvent): Bare | null {
  switch (inspected.type) {
    case '@xstate.event':
      return {
        type: '@xstate.event',
        sourceId: inspected.sourceRef?.sessionId,
        event: plain(inspected.event) as object,
      }
    case '@xstate.snapshot':
      return {
        type: '@xstate.snapshot',
        snapshot: plain(inspected.snapshot),
        event: plain(inspected.event) as object,
      }
    default:
      return null
  }
}

function actorMessage(actor: AnyActorRef): Bare {
  const { id, _parent, logic } = actor as AnyActorRef & Internals
  const definition = logic?.config === undefined ? undefined : JSON.stringify(logic.config, named)
  return {
    type: '@xstate.actor',
    name: id,
    parentId: _parent?.sessionId,
    definition,
    snapshot: plain(actor.getSnapshot()),
  }
}

/** XState throws while an actor begins, and offers no other way to know. */
function hasSnapshot(actor: AnyActorRef): boolean {
  try {
    return actor.getSnapshot() !== undefined
  } catch {
    return false
  }
}

interface Internals {
  readonly _parent?: AnyActorRef
  readonly logic?: { readonly config?: unknown }
}

/** An actor and those below it, as far as their snapshots name them. */
function below(actor: AnyActorRef): readonly AnyActorRef[] {
  const { children = {} } = (actor.getSnapshot() ?? {}) as Snapshot<unknown> & {
    readonly children?: { readonly [id: string]: AnyActorRef }
  }
  return [actor, ...Object.values(children).flatMap(below)]
}

function named(_key: string, value: unknown): unknown {
  return typeof value === 'function' ? { type: value.name } : value
}

/** As JSON has it: actors become their ids, and what JSON has no form for is left out. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown)
}
