import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { busFact } from '../../src/bus/bus-fact.ts'
import { EventBuffer } from '../../src/bus/event-buffer.ts'
import type { BusEvent } from '../../src/bus/events.ts'
import type { BusFact, StoredFact } from '../../src/facts/envelope.ts'
import { sampleFact } from '../facts/sample-facts.ts'
import { delta } from './consumers.ts'

function factAt(cursor: number): BusFact {
  return busFact({ ...sampleFact('message.added', cursor, cursor), cursor, prev: '', hash: '' } as StoredFact, 'e')
}

function drained(buffer: EventBuffer): BusEvent[] {
  const events: BusEvent[] = []
  for (let event = buffer.take(); event !== undefined; event = buffer.take()) events.push(event)
  return events
}

function short(event: BusEvent): string {
  if ('cursor' in event) return `${event.cursor}`
  if (event.type === 'bus.dropped') return `${event.from}..${event.to}=${event.count}@${event.resume}`
  return event.type === 'model.delta' ? `d${event.index}` : event.type
}

/** One list with marks for what was lost, written without a thought for speed. */
class NaiveBuffer {
  readonly #capacity: number
  #list: { readonly cursor: number | null; readonly index: number; lost: boolean }[] = []

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  add(cursor: number | null, index: number): void {
    this.#list.push({ cursor, index, lost: false })
    if (this.#list.filter((each) => !each.lost).length <= this.#capacity) return
    const passing = this.#list.findIndex((each) => each.cursor === null)
    if (passing >= 0) this.#list.splice(passing, 1)
    else for (const each of this.#list.filter((one) => !one.lost).slice(0, 1)) each.lost = true
  }

  take(): string | undefined {
    const lost = this.#list.filter((each) => each.lost).map((each) => each.cursor ?? 0)
    if (lost.length > 0) {
      this.#list = this.#list.filter((each) => !each.lost)
      return `${lost[0]}..${lost.at(-1)}=${lost.length}@e-${(lost[0] ?? 0) - 1}`
    }
    const next = this.#list.shift()
    return next === undefined ? undefined : next.cursor === null ? `d${next.index}` : `${next.cursor}`
  }
}

describe('event buffer', () => {
  it('loses passing events first, then facts, with one notice in their place', () => {
    const buffer = new EventBuffer(3)
    buffer.addFact(factAt(1))
    buffer.addPassing(delta(1, 0))
    buffer.addPassing(delta(1, 1))
    buffer.addFact(factAt(5))
    buffer.addPassing(delta(1, 2))
    expect(buffer.size).toBe(3)
    buffer.addFact(factAt(6))
    buffer.addFact(factAt(9))
    buffer.addFact(factAt(10))
    buffer.addPassing(delta(1, 3))
    expect(drained(buffer).map(short)).toEqual(['1..5=2@e-0', '6', '9', '10'])
  })

  it('begins another notice once one was taken', () => {
    const buffer = new EventBuffer(1)
    for (const cursor of [3, 4]) buffer.addFact(factAt(cursor))
    expect(short(buffer.take() as BusEvent)).toBe('3..3=1@e-2')
    for (const cursor of [5, 6]) buffer.addFact(factAt(cursor))
    expect(drained(buffer).map(short)).toEqual(['4..5=2@e-3', '6'])
  })

  it('does what a simple list would do, whatever comes and goes', () => {
    const moves = fc.array(fc.constantFrom('fact', 'fact', 'passing', 'take'), { maxLength: 80 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), moves, (capacity, list) => {
        const buffer = new EventBuffer(capacity)
        const naive = new NaiveBuffer(capacity)
        list.forEach((move, at) => {
          if (move === 'take') {
            const event = buffer.take()
            expect(event === undefined ? undefined : short(event)).toBe(naive.take())
            return
          }
          if (move === 'fact') buffer.addFact(factAt(at + 1))
          else buffer.addPassing(delta(1, at))
          naive.add(move === 'fact' ? at + 1 : null, at)
          expect(buffer.size).toBeLessThanOrEqual(capacity)
        })
        for (const event of drained(buffer)) expect(short(event)).toBe(naive.take())
        expect(naive.take()).toBe(undefined)
      }),
      { numRuns: 300 },
    )
  })
})
