import type { Fact } from '../../machines/facts.ts'
import { fold } from '../../machines/fold.ts'
import { emptyWorld, type World } from '../../machines/world.ts'
import { zeroHash } from '../facts/chain.ts'
import { unpackStep } from '../facts/codec.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Log, StoredStep } from '../facts/log-port.ts'
import type { Scope } from '../facts/scope.ts'
import { unpackWorld } from './world-snapshot.ts'

export interface Loaded {
  readonly world: World
  readonly seq: number
  readonly step: number
  readonly hash: string
  readonly lastId: string
  /** Revision of the stored snapshot, 0 without one, and the seq that it stands at. */
  readonly snapshot: { readonly revision: number; readonly seq: number }
}

const stepsPerPage = 512
const noSnapshot = { revision: 0, seq: 0 }

/**
 * Folds a session from its log: the same charts, and nothing else. A fact that a chart refuses here was written by a fault or
 * by another hand, and is never skipped.
 */
export async function loadWorld(log: Log, scope: Scope, at = Number.POSITIVE_INFINITY): Promise<Loaded> {
  return replay(log, scope, beginning(), { at })
}

export function beginning(): Loaded {
  return { world: emptyWorld(), seq: 0, step: 0, hash: zeroHash, lastId: '', snapshot: noSnapshot }
}

/** The same state, from the stored snapshot and the tail behind it where the chain vouches for the snapshot. */
export async function loadNewest(log: Log, scope: Scope): Promise<Loaded> {
  const start = await fromSnapshot(log, scope)
  return start === null ? loadWorld(log, scope) : replay(log, scope, start, { at: Number.POSITIVE_INFINITY })
}

/** A snapshot is a cache: any doubt throws it away. It must stand at the end of a step whose hash it names. */
async function fromSnapshot(log: Log, scope: Scope): Promise<Loaded | null> {
  const snapshot = await log.loadSnapshot(scope)
  if (snapshot === null) return null
  const [step] = await log.read(scope, { after: snapshot.seq - 1, limit: 1 })
  if (step === undefined || step.firstSeq + step.count - 1 !== snapshot.seq || step.hash !== snapshot.hash) return null
  const world = unpackWorld(snapshot.body, snapshot.hash)
  if (world === null || world.seq !== snapshot.seq) return null
  const lastId = unpackStep(step, { validate: false }).at(-1)?.id ?? ''
  const { seq, revision } = snapshot
  return { world, seq, step: step.step, hash: step.hash, lastId, snapshot: { revision, seq } }
}

interface Until {
  readonly at: number
  /** Is told of each step that was folded as a whole. */
  readonly onStep?: (there: Loaded) => void
}

/** Folds what stands behind a state into it, up to a fact. */
export async function replay(log: Log, scope: Scope, start: Loaded, { at, onStep }: Until): Promise<Loaded> {
  const { world, snapshot } = start
  let head = { seq: start.seq, step: start.step, hash: start.hash, lastId: start.lastId }
  for (;;) {
    // A step holds a fact at least, so no more of them are needed than facts.
    const limit = Math.min(stepsPerPage, Math.max(at - head.seq, 1))
    const steps = await log.read(scope, { after: head.seq, limit })
    for (const step of steps) {
      if (step.firstSeq > at) return { world, snapshot, ...head }
      if (step.prev !== head.hash) throw corrupt(scope, step.firstSeq, 'the chain is broken')
      const lastId = replayStep(world, step, at)
      head = { seq: step.firstSeq + step.count - 1, step: step.step, hash: step.hash, lastId }
      if (head.seq <= at) onStep?.({ world, snapshot, ...head })
      if (head.seq >= at) return { world, snapshot, ...head }
    }
    if (steps.length === 0) return { world, snapshot, ...head }
  }
}

function replayStep(world: World, step: StoredStep, at: number): string {
  let lastId = ''
  for (const fact of unpackStep(step, { validate: false })) {
    if (fact.seq > at) break
    const folded = fold(world, fact as Fact)
    if (folded.refusedBy !== null)
      throw corrupt(step.scope, fact.seq, `${fact.type} is refused by the ${folded.refusedBy.chart} chart`)
    lastId = fact.id
  }
  return lastId
}

function corrupt(scope: Scope, seq: number, what: string): LandfallError {
  return new LandfallError('LOG_CORRUPT', 'The log of this session does not replay. Run landfall verify.', {
    details: { session: scope.session, seq, what },
  })
}
