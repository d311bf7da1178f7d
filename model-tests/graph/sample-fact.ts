import type { Fact, FactData, FactOf, FactType } from '../../machines/facts.ts'
import { sampleData, sampleId } from '../../test/facts/sample-facts.ts'

interface Where {
  readonly task?: string | null
  readonly call?: string | null
}

/** A valid fact with what matters changed. The walk numbers it when it offers it. */
export function sampleFact<T extends FactType>(
  type: T,
  changes: Partial<FactData[T]> = {},
  where: Where = {},
): FactOf<T> {
  return {
    type,
    data: { ...sampleData[type], ...changes },
    id: sampleId(1),
    seq: 1,
    step: 1,
    at: '2026-01-01T00:00:00.000Z',
    task: where.task ?? null,
    run: null,
    call: where.call ?? null,
  }
}

export function numbered(fact: Fact, seq: number): Fact {
  return { ...fact, seq }
}
