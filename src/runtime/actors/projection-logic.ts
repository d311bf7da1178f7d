import type { ActorLogic, ActorScope, AnyActorRef, EventObject } from 'xstate'
import { errorCode } from '../../facts/errors.ts'
import { type ActorView, stopped } from './actor-view.ts'
import {
  isOperatorEvent,
  type OperatorEvent,
  type OperatorNotice,
  type OperatorPort,
  operate,
} from './operator-event.ts'

/** A fact as an observer of the actor system sees it: what moved the chart, without content. */
export interface CommittedEvent extends EventObject {
  /** Type of the first fact of the step that concerns this chart; `facts` names all of them in order. */
  readonly type: string
  readonly seq: number
  readonly facts: readonly string[]
}

export interface ProjectionParts<Context> {
  /** The chart that is shown, for inspectors that draw it. */
  readonly config: unknown
  readonly first: ActorView<Context>
  readonly port: OperatorPort
  /** An event that was sent, as a command of the session; null: none. */
  readonly command: (event: EventObject, view: ActorView<Context>) => OperatorEvent | null
  /** Asks to be let go. */
  readonly onRelease?: () => void
}

export type ProjectionLogic<Context> = ActorLogic<
  ActorView<Context>,
  EventObject,
  undefined,
  AnyActorRef['system'],
  OperatorNotice
>
type Scope<Context> = ActorScope<ActorView<Context>, EventObject, AnyActorRef['system'], OperatorNotice>

/** Views that were made from committed steps, by the event that brings them: nobody else can make an actor show anything. */
const committed = new WeakMap<object, ActorView<unknown>>()

const projections = new WeakSet<object>()

/** Whether an actor shows part of a session, so that what is sent to it are commands with content in them. */
export function isProjected(actor: AnyActorRef): boolean {
  const { logic } = actor as AnyActorRef & { readonly logic?: object }
  return logic !== undefined && projections.has(logic)
}

/** Shows a view to those who watch the actor. */
export function show<Context>(actor: AnyActorRef, event: CommittedEvent, view: ActorView<Context>): void {
  committed.set(event, view)
  actor.send(event)
}

/** An actor that shows what was committed and passes commands on. It decides nothing. */
export function projectionLogic<Context>(parts: ProjectionParts<Context>): ProjectionLogic<Context> {
  const logic: ProjectionLogic<Context> = {
    config: parts.config,
    getInitialSnapshot: () => parts.first,
    getPersistedSnapshot: (view) => view,
    transition: (view, event, scope) => {
      const next = committed.get(event)
      if (next !== undefined) return next as ActorView<Context>
      if (event.type === 'xstate.stop') return stop(view, scope)
      if (event.type === 'actor.release') parts.onRelease?.()
      const command = parts.command(event, view)
      if (command !== null && isOperatorEvent(command)) void submit(parts.port, command, scope)
      return view
    },
  }
  projections.add(logic)
  return logic
}

function stop<Context>(view: ActorView<Context>, scope: Scope<Context>): ActorView<Context> {
  for (const child of Object.values(view.children)) scope.stopChild(child)
  return { ...view, ...stopped }
}

async function submit<Context>(port: OperatorPort, command: OperatorEvent, scope: Scope<Context>): Promise<void> {
  try {
    const receipt = await operate(port, command)
    scope.emit({ type: 'command.accepted', command: command.type, receipt })
  } catch (error) {
    scope.emit({ type: 'command.refused', command: command.type, code: errorCode(error), error })
  }
}
