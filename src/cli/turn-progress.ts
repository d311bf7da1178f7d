import type { BusEvent } from '../bus/events.ts'
import { isFact } from '../bus/events.ts'
import type { BusFact } from '../facts/envelope.ts'
import type { Scope } from '../facts/scope.ts'
import { systemClock, systemScheduler } from '../facts/system-ports.ts'
import type { Runtime } from '../runtime/open-runtime.ts'
import type { Output } from './output.ts'
import { progressStore, whenProgress } from './progress-store.ts'

/** How long the end of a turn waits for its last events to be shown. */
const lastEventsMs = 1_000

/**
 * Owns: what is shown of a session while it works, made from its events alone.
 * 1. Words of the model are shown as they come where somebody looks on; otherwise whole, when calls follow them. The final
 *    answer is the result and is printed by who waits for it.
 */
export class TurnProgress {
  readonly #output: Output
  readonly #progress = progressStore()
  readonly #stop: () => void

  constructor(runtime: Runtime, scope: Scope, output: Output) {
    this.#output = output
    const events = runtime.events(scope, { after: 'now', ephemeral: true })
    const subscription = events.subscribe({ next: (event) => this.#show(event), error: () => {} })
    this.#stop = () => subscription.unsubscribe()
  }

  stop(): void {
    this.#stop()
  }

  /** Resolves with what a paused task waits for; a pause that is over is none. */
  paused(task: string): Promise<string> {
    return whenProgress(this.#progress, ({ waitsFor }) => waitsFor[task] ?? null)
  }

  /** Resolves when the end of the task has been shown, or after a while. */
  async shown(task: string): Promise<void> {
    let cancel = () => {}
    const tooLong = new Promise<void>((resolve) => {
      cancel = systemScheduler().at(systemClock.now() + lastEventsMs, resolve)
    })
    await Promise.race([whenProgress(this.#progress, ({ ended }) => (ended.includes(task) ? true : null)), tooLong])
    cancel()
  }

  #show(event: BusEvent): void {
    if (event.type === 'model.delta') {
      if (event.kind === 'text') this.#words(event.text)
    } else if (event.type === 'call.progress') this.#output.note(`    ${event.note}`)
    else if (isFact(event)) this.#fact(event)
  }

  #words(text: string): void {
    this.#progress.trigger.words({ text })
    this.#output.live?.write(text)
  }

  #fact(fact: BusFact): void {
    switch (fact.type) {
      case 'model.completed':
        return this.#said(fact.data.calls.length > 0)
      case 'model.requested':
        return fact.data.attempt > 1
          ? this.#output.note(`  model asked again (attempt ${fact.data.attempt})`)
          : undefined
      case 'model.failed':
        this.#said(false)
        return this.#output.note(`  model failed: ${fact.data.code}${nextOf(fact)}`)
      case 'model.abandoned':
        this.#said(false)
        return fact.data.reason === 'deadline' ? this.#output.note('  model was silent for too long') : undefined
      case 'call.requested':
        return this.#progress.trigger.asked({ call: fact.call ?? '', name: fact.data.name })
      case 'task.paused':
        return this.#progress.trigger.paused({ task: fact.task ?? '', reasons: fact.data.reasons.join(', ') })
      case 'task.resumed':
        return this.#progress.trigger.resumed({ task: fact.task ?? '' })
      case 'steering.applied':
        return this.#output.note('  steering applied')
      case 'task.completed':
      case 'task.failed':
      case 'task.cancelled':
      case 'task.superseded':
        return this.#progress.trigger.ended({ task: fact.task ?? '' })
      default:
        return this.#call(fact)
    }
  }

  /** The answer is whole: what was shown live ends its line; what was not and is not the final answer is shown now. */
  #said(goesOn: boolean): void {
    const { text } = this.#progress.getSnapshot().context
    this.#progress.trigger.said()
    if (text === '') return
    if (this.#output.live !== null) this.#output.live.write('\n')
    else if (goesOn) this.#output.note(text)
  }

  #call(fact: BusFact): void {
    const name = this.#progress.getSnapshot().context.names[fact.call ?? ''] ?? 'call'
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

/** When a failed request is made again and why it failed; of the last one the end of the turn says why. */
function nextOf({ at, data }: BusFact & { type: 'model.failed' }): string {
  if (data.retryAt === undefined) return ''
  const seconds = Math.round((Date.parse(data.retryAt) - Date.parse(at)) / 100) / 10
  return `, asked again in ${seconds} s${data.reason === undefined ? '' : `: ${data.reason}`}`
}
