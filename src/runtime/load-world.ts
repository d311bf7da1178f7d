import type { Fact } from '../../machines/facts.ts'
import { fold } from '../../machines/fold.ts'
import { emptyWorld, type World } from '../../machines/world.ts'
import { zeroHash } from '../facts/chain.ts'
import { unpackStep } from '../facts/codec.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Log, StoredStep } from '../facts/log-port.ts'
import type { Scope } from '../facts/scope.ts'

export interface Loaded {
  readonly world: World
  readonly seq: number
  readonly step: number
  readonly hash: string
  readonly lastId: string
}

const stepsPerPage = 512

/**
 * Folds a session from its log: the same charts, and nothing else. A fact that a chart refuses here was written by a fault or
 * by another hand, and is never skipped.
 */
export async function loadWorld(log: Log, scope: Scope, at = Number.POSITIVE_INFINITY): Promise<Loaded> {
  const world = emptyWorld()
  let head = { seq: 0, step: 0, hash: zeroHash, lastId: '' }
  for (;;) {
    const steps = await log.read(scope, { after: head.seq, limit: stepsPerPage })
    for (const step of steps) {
      if (step.firstSeq > at) return { world, ...head }
      const lastId = replayStep(world, step, at)
      if (step.prev !== head.hash) throw corrupt(scope, step.firstSeq, 'the chain is broken')
      head = { seq: step.firstSeq + step.count - 1, step: step.step, hash: step.hash, lastId }
      if (head.seq >= at) return { world, ...head }
    }
    if (steps.length < stepsPerPage) return { world, ...head }
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
