import type { EventObject } from 'xstate'
import type { CallContext } from '../../../machines/call.machine.ts'
import type { ActorView } from './actor-view.ts'
import { isOperatorEvent, type OperatorEvent } from './operator-event.ts'

/** What is sent to a session's actor is the command itself. */
export function sessionCommand(event: EventObject): OperatorEvent | null {
  return isOperatorEvent(event) ? event : null
}

const ofTask = new Set(['steer', 'cancel', 'pause', 'unblock', 'replace', 'reduceGrant', 'supersede'])

/** What is sent to a task's actor is about that task, whatever it names; the rest goes to the session as it is. */
export function taskCommand(event: EventObject, task: string): OperatorEvent | null {
  if (!isOperatorEvent(event)) return null
  return ofTask.has(event.type) ? ({ ...event, task } as OperatorEvent) : event
}

/** What is sent to a call's actor answers the pause that holds it, or acknowledges its unknown outcome. */
export function callCommand(event: EventObject, { context }: ActorView<CallContext>): OperatorEvent | null {
  const { id, token } = context
  if (event.type === 'acknowledge') return { ...event, type: 'acknowledge', calls: [id] }
  // Without a pause the token is empty, which the session refuses by name: the sender hears of it like of any refusal.
  if (event.type === 'confirm') return { ...event, confirmation: token ?? '' } as OperatorEvent
  return event.type === 'resume' ? ({ ...event, token: token ?? '' } as OperatorEvent) : null
}
