import type { AnyActorRef, EventObject, InspectionEvent, Snapshot } from 'xstate'
import type { Clock, Ids, Redactor } from '../facts/ports.ts'
import { systemClock, systemIds } from '../facts/system-ports.ts'
import { defaultRedactor } from '../redaction/default-redactor.ts'
import { isProjected } from '../runtime/actors/projection-logic.ts'

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
  /** Passes everything that is told, in place of the default one. */
  readonly redactor?: Redactor
}

const protocolVersion = '0.7.2'

/**
 * Tells everything that happens in the actor system of `root` in the message format of the Stately inspector, beginning with the
 * actors that are there already. The host decides where messages go; nothing is sent anywhere by itself. Credentials are taken out,
 * and of commands what an operator wrote. Nobody who is told about is disturbed: what has no JSON form is withheld, and a `send`
 * that throws is told nothing more. Returns what ends it.
 */
export function statelyMessages(
  root: AnyActorRef,
  send: (message: StatelyMessage) => void,
  options: StatelyOptions = {},
): () => void {
  const { clock = systemClock, ids = systemIds(), redactor = defaultRedactor() } = options
  const base = (actor: AnyActorRef): MessageBase => ({
    id: ids.next(),
    rootId: root.sessionId,
    sessionId: actor.sessionId,
    createdAt: new Date(clock.now()).toISOString(),
    _version: protocolVersion,
  })
  let isTold = true
  const tell = (actor: AnyActorRef, message: Bare) => {
    if (!isTold) return
    try {
      send({ ...base(actor), ...message })
    } catch (error) {
      isTold = false
      // As XState does with an observer that throws: its error is nobody's, and what it watched goes on.
      queueMicrotask(() => {
        throw error
      })
    }
  }
  const introduce = (actor: AnyActorRef) => tell(actor, actorMessage(actor, redactor))
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
    const message = messageOf(event, redactor)
    if (message !== null) tell(actor, message)
  })
  return () => subscription.unsubscribe()
}

type Bare = StatelyMessage extends infer M ? (M extends StatelyMessage ? Omit<M, keyof MessageBase> : never) : never

function messageOf(inspected: InspectionEvent, redactor: Redactor): Bare | null {
  const eventOf = (event: EventObject) => {
    const { type } = event
    const told = isProjected(inspected.actorRef as AnyActorRef) ? withoutContent(event) : event
    return (plain(told, redactor) ?? { type, withheld: true }) as object
  }
  switch (inspected.type) {
    case '@xstate.event':
      return {
        type: '@xstate.event',
        sourceId: inspected.sourceRef?.sessionId,
        event: eventOf(inspected.event),
      }
    case '@xstate.snapshot':
      return {
        type: '@xstate.snapshot',
        snapshot: snapshotOf(inspected.snapshot, redactor),
        event: eventOf(inspected.event),
      }
    default:
      return null
  }
}

/** What an operator wrote, and the words that settle a pause. */
const contentFields: ReadonlySet<string> = new Set(['input', 'system', 'settings', 'reason', 'token', 'confirmation'])

function withoutContent(event: EventObject): EventObject {
  return Object.fromEntries(Object.entries(event).filter(([field]) => !contentFields.has(field))) as EventObject
}

function snapshotOf(snapshot: unknown, redactor: Redactor): unknown {
  if (snapshot === undefined) return undefined
  const { status } = snapshot as Snapshot<unknown>
  return plain(snapshot, redactor) ?? { status, withheld: true }
}

function actorMessage(actor: AnyActorRef, redactor: Redactor): Bare {
  const { id, _parent, logic } = actor as AnyActorRef & Internals
  const definition = logic?.config === undefined ? undefined : definitionOf(logic.config)
  return {
    type: '@xstate.actor',
    name: id,
    parentId: _parent?.sessionId,
    definition,
    snapshot: snapshotOf(actor.getSnapshot(), redactor),
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

function definitionOf(config: unknown): string | undefined {
  try {
    return JSON.stringify(config, named)
  } catch {
    return undefined
  }
}

/** As JSON has it: actors become their ids, and what JSON has no form for is left out. Null where the whole has none. */
function plain(value: unknown, redactor: Redactor): unknown {
  try {
    return redactor.value(JSON.parse(JSON.stringify(value)))
  } catch {
    return null
  }
}
