import type { ActorRef } from 'xstate'
import type { CallContext } from '../../../machines/call.machine.ts'
import type { SessionContext } from '../../../machines/session-context.ts'
import type { TaskContext } from '../../../machines/task-context.ts'
import type { ActorView } from './actor-view.ts'
import type { CallEvent, OperatorEvent, OperatorNotice, ReleaseEvent, TaskEvent } from './operator-event.ts'

/** An XState actor that shows a session and takes its commands. */
export type SessionActorRef = ActorRef<ActorView<SessionContext>, OperatorEvent | ReleaseEvent, OperatorNotice>
export type TaskActorRef = ActorRef<ActorView<TaskContext>, TaskEvent, OperatorNotice>
export type CallActorRef = ActorRef<ActorView<CallContext>, CallEvent, OperatorNotice>
