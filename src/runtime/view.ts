import { createHash } from 'node:crypto'
import type { MessageRecord, TaskRecord, World } from '../../machines/world.ts'
import { isVisible, openCallsAfter } from '../context/conversation.ts'
import { occupancyOfMessage } from '../context/occupancy.ts'
import { LandfallError } from '../facts/errors.ts'
import type { ModelMessage } from '../facts/ports.ts'

type Rendered = (message: MessageRecord) => ModelMessage

/**
 * Owns: one selection of the session's messages as requests send them, with what is known of it so far.
 * 1. It only grows, by the messages behind `#upTo`; a step costs what is new.
 * 2. `rolling` is the digest over the message digests of the view, one after the other; `occupancy` the sum of their bytes.
 * 3. The pairing of calls and results is checked as messages arrive, so that no request needs a scan.
 */
export class View {
  readonly #messages: ModelMessage[] = []
  #upTo = 0
  #open: readonly string[] = []
  #broken = false
  /** Where the first user message of each task stands. */
  readonly inputAt = new Map<string, number>()
  rolling = ''
  occupancy = 0

  get length(): number {
    return this.#messages.length
  }

  extend(world: World, task: TaskRecord | null, rendered: Rendered): void {
    for (; this.#upTo < world.messages.length; this.#upTo += 1) {
      const record = world.messages[this.#upTo] as MessageRecord
      if (task === null ? !isForegroundLane(world, record) : !isVisible(world, task, record)) continue
      this.#add(record, rendered(record))
    }
  }

  #add(record: MessageRecord, message: ModelMessage): void {
    const open = openCallsAfter(this.#open, message)
    if (open === null) this.#broken = true
    else this.#open = open
    if (record.role === 'user' && !this.inputAt.has(record.task)) this.inputAt.set(record.task, this.#messages.length)
    this.#messages.push(message)
    this.rolling = createHash('sha256').update(this.rolling).update(record.digest).digest('hex')
    this.occupancy += occupancyOfMessage(message)
  }

  /** The messages of a request: a frozen list of the shared, frozen messages. */
  take(): readonly ModelMessage[] {
    if (this.#broken || this.#open.length > 0)
      throw new LandfallError(
        'REQUEST_INVALID',
        'A request would hold a call without its result. Report this as a bug.',
      )
    return Object.freeze(this.#messages.slice())
  }
}

/** The view that every turn shares which did not wait for another one. */
function isForegroundLane(world: World, message: MessageRecord): boolean {
  return world.taskRecords.get(message.task)?.created.kind !== 'background'
}
