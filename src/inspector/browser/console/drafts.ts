import type { Delta, Fact } from './shapes.ts'

/** An answer while it is written. */
export interface Draft {
  readonly task: string
  /** seq of the request that it answers. */
  readonly after: number
  readonly text: string
  readonly reasoning: string
  readonly nextIndex: number
  /** Something of it was not heard: the whole comes with its message. */
  readonly hasHole: boolean
  /** seq of the fact that ended it; it stays until its message is there. */
  readonly endedAt: number | null
}

export type Drafts = readonly Draft[]

export function withDelta(drafts: Drafts, delta: Delta): Drafts {
  const { task, after, index, kind, text } = delta
  if (task === null) return drafts
  const known = drafts.find((draft) => draft.after === after)
  const draft = known ?? { task, after, text: '', reasoning: '', nextIndex: 0, hasHole: false, endedAt: null }
  const next: Draft = {
    ...draft,
    [kind]: draft[kind] + text,
    nextIndex: index + 1,
    hasHole: draft.hasHole || index !== draft.nextIndex,
  }
  return known === undefined ? [...drafts, next] : drafts.map((each) => (each === known ? next : each))
}

const ends = new Set(['model.completed', 'model.failed', 'model.abandoned'])

export function afterFacts(drafts: Drafts, facts: readonly Fact[]): Drafts {
  if (drafts.length === 0) return drafts
  let left = drafts
  for (const { type, task, seq } of facts)
    if (ends.has(type)) left = left.map((draft) => (draft.task === task ? { ...draft, endedAt: seq } : draft))
  return left
}

/** Messages up to `seq` are there, so an answer that ended before it is told twice. */
export function withoutEnded(drafts: Drafts, seq: number): Drafts {
  const left = drafts.filter(({ endedAt }) => endedAt === null || endedAt > seq)
  return left.length === drafts.length ? drafts : left
}
