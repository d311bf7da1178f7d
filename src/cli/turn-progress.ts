import type { BusEvent } from '../bus/events.ts'
import { isFact } from '../bus/events.ts'
import type { BusFact } from '../facts/envelope.ts'
import type { Scope } from '../facts/scope.ts'
import { systemClock, systemScheduler } from '../facts/system-ports.ts'
import type { Runtime } from '../runtime/open-runtime.ts'
import type { Output } from './output.ts'

/** How long the end of a turn waits for its last events to be shown. */
const lastEventsMs = 1_000

/**
 * Owns: what is shown of a session while it works, made from its events alone.
 * 1. Words of the model are shown as they come where somebody looks on; otherwise whole, when calls follow them. The final
 *    answer is the result and is printed by who waits for it.
 */
export class TurnProgress {
  readonly #output: Output
  readonly #names = new Map<string, string>()
  readonly #stop: () => void
  readonly #ends = new Set<string>()
  readonly #waiting = new Map<string, () => void>()
  #text = ''
  #pauses: ((subject: string) => void) | null = null
  #task: string | null = null

  constructor(runtime: Runtime, scope: Scope, output: Output) {
    this.#output = output
    const events = runtime.events(scope, { after: 'now', ephemeral: true })
    const subscription = events.subscribe({ next: (event) => this.#show(event), error: () => {} })
    this.#stop = () => subscription.unsubscribe()
  }

  stop(): void {
    this.#stop()
  }

  /** Resolves with what a paused task waits for; a pause that is over before is none. */
  paused(task: string): Promise<string> {
    this.#task = task
    return new Promise((resolve) => {
      this.#pauses = resolve
    })
  }

  /** Resolves when the end of the task has been shown. */
  async shown(task: string): Promise<void> {
    if (this.#ends.has(task)) return
    await new Promise<void>((resolve) => {
      const cancel = systemScheduler().at(systemClock.now() + lastEventsMs, resolve)
      this.#waiting.set(task, () => {
        cancel()
        resolve()
      })
    })
  }

  #show(event: BusEvent): void {
    if (event.type === 'model.delta') {
      if (event.kind === 'text') this.#words(event.text)
    } else if (event.type === 'call.progress') this.#output.note(`    ${event.note}`)
    else if (isFact(event)) this.#fact(event)
  }

  #words(text: string): void {
    this.#text += text
    this.#output.live?.write(text)
  }

  #fact(fact: BusFact): void {
    switch (fact.type) {
      case 'model.completed':
        return this.#said(fact.data.calls.length > 0)
      case 'model.failed':
        this.#said(false)
        return this.#output.note(
          `  model failed: ${fact.data.code}${fact.data.retryAt === undefined ? '' : ', trying again'}`,
        )
      case 'model.abandoned':
        return this.#said(false)
      case 'call.requested':
        this.#names.set(fact.call ?? '', fact.data.name)
        return
      case 'task.paused':
        if (fact.task === this.#task) this.#pauses?.(fact.data.reasons.join(', '))
        return
      case 'steering.applied':
        return this.#output.note('  steering applied')
      case 'task.completed':
      case 'task.failed':
      case 'task.cancelled':
      case 'task.superseded':
        this.#ends.add(fact.task ?? '')
        this.#waiting.get(fact.task ?? '')?.()
        return
      default:
        return this.#call(fact)
    }
  }

  /** The answer is whole: what was shown live ends its line; what was not and is not the final answer is shown now. */
  #said(goesOn: boolean): void {
    const text = this.#text
    this.#text = ''
    if (text === '') return
    if (this.#output.live !== null) this.#output.live.write('\n')
    else if (goesOn) this.#output.note(text)
  }

  #call(fact: BusFact): void {
    const name = this.#names.get(fact.call ?? '') ?? 'call'
    switch (fact.type) {
      case 'call.started':
        return this.#output.note(`  ${name} ...`)
      case 'call.finished': {
        const { outcome, code, durationMs } = fact.data
        return this.#output.note(`  ${name} ${outcome}${code === undefined ? '' : ` (${code})`} after ${durationMs} ms`)
      }
      case 'call.refused':
        return this.#output.note(`  ${name} refused (${fact.data.code})`)
      case 'call.held':
        return this.#output.note(`  ${name} held (${fact.data.reason})`)
      case 'call.cancelled':
        return this.#output.note(`  ${name} cancelled (${fact.data.when})`)
      case 'call.unknown':
        return this.#output.note(`  ${name} has an unknown outcome (${fact.data.reason}); look before trying it again`)
    }
  }
}
