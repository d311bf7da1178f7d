import { describe, expect, it } from 'vitest'
import type { FactType } from '../../machines/facts.ts'
import type { StoredFact } from '../../src/facts/envelope.ts'
import type { Invariant } from '../../src/testing/check-log/violation.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import { buildLog, type Steps, seqOf, type TestDraft } from './log-builder.ts'

/** Edits of a valid log, made before the chain is computed, so that only the planted fault can be found. */

export type Place = readonly [type: FactType, nth?: number]

function edit(steps: Steps, [type, nth = 0]: Place, replace: (draft: TestDraft) => readonly TestDraft[]): Steps {
  let left = nth
  let done = false
  const edited = steps.map((drafts) =>
    drafts.flatMap((draft) => {
      if (draft.type !== type || done) return [draft]
      if (left > 0) {
        left -= 1
        return [draft]
      }
      done = true
      return replace(draft)
    }),
  )
  if (!done) throw new Error(`no ${type} number ${nth} to edit`)
  return edited
}

export function without(steps: Steps, place: Place): Steps {
  return edit(steps, place, () => [])
}

export function after(steps: Steps, place: Place, ...drafts: TestDraft[]): Steps {
  return edit(steps, place, (draft) => [draft, ...drafts])
}

export function before(steps: Steps, place: Place, ...drafts: TestDraft[]): Steps {
  return edit(steps, place, (draft) => [...drafts, draft])
}

export function altered(steps: Steps, place: Place, data: Readonly<Record<string, unknown>>): Steps {
  return edit(steps, place, (draft) => [{ ...draft, data: { ...draft.data, ...data } } as TestDraft])
}

export function readdressed(steps: Steps, place: Place, envelope: Partial<TestDraft>): Steps {
  return edit(steps, place, (draft) => [{ ...draft, ...envelope } as TestDraft])
}

export function findings(facts: readonly StoredFact[]): string[] {
  return checkLog(facts).violations.map(({ invariant, seq }) => `${invariant}@${seq}`)
}

/** The violation must be found at the fact named by `place`, under this invariant; others may be found beside it. */
export function expectPlanted(steps: Steps, invariant: Invariant, place: Place): void {
  const facts = buildLog(steps)
  const [type, nth = 0] = place
  expect(findings(facts)).toContain(`${invariant}@${seqOf(facts, type, nth)}`)
}

export type Case = readonly [name: string, steps: Steps, at: Place]

export function describePlanted(title: string, cases: Readonly<Partial<Record<Invariant, readonly Case[]>>>): void {
  describe(`planted violations of ${title}`, () => {
    for (const [invariant, planted] of Object.entries(cases)) {
      for (const [name, steps, at] of planted) {
        it(`${invariant}: ${name}`, () => expectPlanted(steps, invariant as Invariant, at))
      }
    }
  })
}
