import { createHash } from 'node:crypto'
import type { Draft, FactType } from '../../machines/facts.ts'
import type { StoredFact } from '../../src/facts/envelope.ts'
import type { Scope } from '../../src/facts/scope.ts'

/** A draft with the parts of the envelope that a test may want to choose. */
export type TestDraft = Draft & {
  readonly owner?: { readonly id: string; readonly epoch: number }
  readonly run?: string
  readonly command?: string
}
export type Steps = readonly (readonly TestDraft[])[]

/** Canonical JSON written here once more, so that the chain of the fixtures owes nothing to the checker's. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  entries.sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(',')}}`
}

export function stepHash(prev: string, facts: readonly StoredFact[]): string {
  const bare = facts.map(({ cursor: _cursor, prev: _prev, hash: _hash, ...rest }) => rest)
  return createHash('sha256')
    .update(canonical({ prev, facts: bare }))
    .digest('hex')
}

/** Decimal digits are ULID letters too, and sort like the numbers. */
export function ulidAt(position: number): string {
  return `01J${String(position).padStart(23, '0')}`
}

export interface BuildOptions {
  readonly session?: string
  readonly scope?: Scope
  readonly firstCursor?: number
}

/** Gives drafts what the runtime would: ids, seq, cursor, step and a correct chain. */
export function buildLog(steps: Steps, options: BuildOptions = {}): StoredFact[] {
  const facts: StoredFact[] = []
  let prev = '0'.repeat(64)
  let owner = { id: 'instance-1', epoch: 1 }
  steps.forEach((drafts, index) => {
    const built = drafts.map((draft, offset) => {
      owner = draft.owner ?? owner
      const seq = facts.length + offset + 1
      return envelope(draft, { seq, step: index + 1, owner, options })
    })
    const hash = stepHash(prev, built)
    for (const fact of built) facts.push({ ...fact, prev, hash })
    prev = hash
  })
  return facts
}

interface Place {
  readonly seq: number
  readonly step: number
  readonly owner: { readonly id: string; readonly epoch: number }
  readonly options: BuildOptions
}

function envelope(draft: TestDraft, { seq, step, owner, options }: Place): StoredFact {
  const task = draft.task ?? null
  return {
    v: 1,
    id: ulidAt(seq),
    cursor: (options.firstCursor ?? 0) + seq,
    seq,
    step,
    at: '2026-01-01T00:00:00.000Z',
    ...(options.scope ?? { tenant: 't', user: 'u', session: options.session ?? 's' }),
    task,
    run: draft.run ?? (task === null ? null : `run-${task}`),
    call: draft.call ?? null,
    type: draft.type,
    data: draft.data,
    by: { kind: 'runtime', id: 'runtime' },
    cause: null,
    command: draft.command ?? null,
    owner,
    prev: '',
    hash: '',
  } as StoredFact
}

/** seq of the nth fact of a type, as a planted violation wants to name it. */
export function seqOf(facts: readonly StoredFact[], type: FactType, nth = 0): number {
  const found = facts.filter((fact) => fact.type === type)[nth]
  if (found === undefined) throw new Error(`no ${type} number ${nth}`)
  return found.seq
}
