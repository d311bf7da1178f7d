import type { World } from '../../machines/world.ts'
import type { Bodies } from './bodies.ts'
import { needed } from './expand-messages.ts'
import type { TaskDesk } from './task-desk.ts'

/** Brings a task's view up to the newest message. */
export function extendView(world: World, bodies: Bodies, desk: TaskDesk): void {
  const own = desk.lane === 'own' ? needed(world.taskRecords.get(desk.task), 'task record') : null
  desk.view.extend(world, own, (message) => needed(bodies.messages.get(message.id), 'message'))
}
