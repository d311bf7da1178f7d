import { afterEach } from 'vitest'
import { type Bus, createBus } from '../../src/bus/bus.ts'
import type { EventStream } from '../../src/bus/event-stream.ts'
import { type BusEvent, isFact, type ModelDelta } from '../../src/bus/events.ts'
import type { StoredFact } from '../../src/facts/envelope.ts'
import { type Limits, limits } from '../../src/facts/limits.ts'
import type { Log } from '../../src/facts/log-port.ts'
import { systemScheduler } from '../../src/facts/system-ports.ts'
import { firstTask, scopeS } from './session-writer.ts'

const buses: Bus[] = []

afterEach(() => {
  for (const bus of buses.splice(0)) bus.close('test over')
})

/** A bus on real turns of the loop, ended with its test. */
export function busOf(log: Log, lowered: Partial<Limits> = {}): Bus {
  const bus = createBus({ log, scheduler: systemScheduler(), limits: { ...limits, ...lowered } })
  buses.push(bus)
  return bus
}

export interface Collected {
  readonly events: BusEvent[]
  readonly ended: { how: 'complete' | 'error' | null; error: unknown }
  stop(): void
}

export function collect(stream: EventStream): Collected {
  const events: BusEvent[] = []
  const ended: Collected['ended'] = { how: null, error: null }
  const subscription = stream.subscribe({
    next: (event) => events.push(event),
    error: (error: unknown) => Object.assign(ended, { how: 'error', error }),
    complete: () => Object.assign(ended, { how: 'complete' }),
  })
  return { events, ended, stop: () => subscription.unsubscribe() }
}

/** Lets everything that is under way come to rest: turns of the loop, not time. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

export async function take(iterator: AsyncIterator<BusEvent>, count: number): Promise<BusEvent[]> {
  const events: BusEvent[] = []
  while (events.length < count) {
    const result = await iterator.next()
    if (result.done === true) break
    events.push(result.value)
  }
  return events
}

export function cursors(events: readonly (BusEvent | StoredFact)[]): (number | string)[] {
  return events.map((event) => ('cursor' in event ? event.cursor : event.type))
}

export function resumeOf(event: BusEvent | undefined): string {
  if (event === undefined || !(isFact(event) || event.type === 'bus.dropped')) throw new Error('no position there')
  return event.resume
}

export function delta(after: number, index: number, task: string = firstTask): ModelDelta {
  return { ...scopeS, type: 'model.delta', task, after, index, kind: 'text', text: `part ${index}` }
}
