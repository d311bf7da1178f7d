import type { TaskId } from '../../machines/vocabulary.ts'
import type { ToolProgress } from '../capabilities/define-tool.ts'
import { LandfallError } from '../facts/errors.ts'
import { freeText } from './free-text.ts'
import type { Mailbox } from './mailbox.ts'
import type { Services } from './services.ts'

interface Told {
  readonly progress: ToolProgress
  readonly tool: string
  readonly cause: string | null
}

/**
 * Owns: what tools of background tasks have told of their progress and the log does not say yet, the newest of each task.
 * 1. A task has one fact in every `progressMs`; what comes meanwhile replaces what waits.
 * 2. Whether a task still takes it is decided in the mailbox, by its state of that moment; one that is not running takes none.
 */
export class TaskProgress {
  readonly #session: Mailbox
  readonly #services: Services
  readonly #waiting = new Map<TaskId, Told>()
  /** Tasks that had a fact a short while ago. */
  readonly #resting = new Map<TaskId, () => void>()

  constructor(session: Mailbox, services: Services) {
    this.#session = session
    this.#services = services
  }

  tell(task: TaskId, told: Told): void {
    if (this.#resting.has(task)) this.#waiting.set(task, told)
    else this.#post(task, told)
  }

  abandon(): void {
    for (const stop of this.#resting.values()) stop()
    this.#resting.clear()
    this.#waiting.clear()
  }

  #post(task: TaskId, { progress, tool, cause }: Told): void {
    const { clock, limits, background, redactor } = this.#services.host
    const { fraction, phase, note } = progress
    const data = {
      fraction,
      ...(phase === undefined ? {} : { phase: freeText(redactor, phase) }),
      ...(note === undefined ? {} : { note: freeText(redactor, note) }),
    }
    this.#resting.set(
      task,
      background.at(clock.now() + limits.progressMs, () => this.#rested(task)),
    )
    this.#session.post({
      cause,
      by: { kind: 'capability', id: tool },
      agenda: (_, world) =>
        world.tasks.get(task)?.matches('running') === true ? [{ type: 'task.progress', task, data }] : [],
    })
  }

  #rested(task: TaskId): void {
    this.#resting.delete(task)
    const told = this.#waiting.get(task)
    this.#waiting.delete(task)
    if (told !== undefined) this.#post(task, told)
  }
}

/** A tool is host code, and may say anything. */
export function checkProgress(given: string | ToolProgress): ToolProgress | string {
  if (typeof given === 'string') return given
  const { fraction, phase, note } = given ?? {}
  const words = [phase, note].every((text) => text === undefined || typeof text === 'string')
  if (typeof fraction === 'number' && fraction >= 0 && fraction <= 1 && words) return given
  throw new LandfallError('INVALID_INPUT', 'Progress is a text, or a fraction from 0 to 1 with a phase and a note.', {
    details: { field: 'progress' },
  })
}
