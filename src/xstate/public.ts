/** For hosts that are XState applications themselves. */
export type { CallActorRef, SessionActorRef, TaskActorRef } from '../runtime/actors/actor-refs.ts'
export type { ActorView } from '../runtime/actors/actor-view.ts'
export type { CallEvent, OperatorEvent, OperatorNotice, TaskEvent } from '../runtime/actors/operator-event.ts'
export { type StatelyMessage, type StatelyOptions, statelyMessages } from './stately-messages.ts'
export {
  type TaskInput,
  type TaskLogic,
  type TaskLogicEvent,
  type TaskLogicOptions,
  type TaskLogicSnapshot,
  taskLogic,
} from './task-logic.ts'
