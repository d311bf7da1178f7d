import { viewOf } from '../../machines/message-reducers.ts'
import { isMessage, isSummary, type ViewEntry } from '../../machines/view.ts'
import type { World } from '../../machines/world.ts'
import { renderNote } from '../context/conversation.ts'
import { renderSummary } from '../context/summary.ts'
import type { ModelMessage } from '../facts/ports.ts'
import type { Bodies } from './bodies.ts'
import { needed } from './expand-messages.ts'
import type { TaskDesk } from './task-desk.ts'

/** Brings what a task's requests show up to the newest message. */
export function followView(world: World, bodies: Bodies, desk: TaskDesk): void {
  desk.view.follow(viewOf(world, desk.task), (entry) => renderEntry(bodies, entry))
}

export function renderEntry(bodies: Bodies, entry: ViewEntry): ModelMessage {
  if (isSummary(entry)) return renderSummary(entry, needed(bodies.summaries.get(entry.digest), 'summary'))
  if (isMessage(entry))
    return entry.observed ? bodies.previewOf(entry) : needed(bodies.messages.get(entry.id), 'message')
  return renderNote(
    entry,
    entry.kept.map((place) => needed(bodies.quotes.get(place.digest), 'quoted message')),
  )
}
