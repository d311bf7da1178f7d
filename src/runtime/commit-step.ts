import { nextToStart, pendingTasks } from '../../machines/session-context.ts'
import type { World } from '../../machines/world.ts'
import { sealStep } from '../facts/codec.ts'
import type { StoredFact, UnchainedFact } from '../facts/envelope.ts'
import { LandfallError } from '../facts/errors.ts'
import type { SessionSummary, StepAppend } from '../facts/log-port.ts'
import { dataProblem } from '../facts/schemas.ts'
import type { Held } from './session-hold.ts'
import type { Step } from './step.ts'

/** The step as the store takes it, or why it cannot be stored. */
export function sealedOrError(step: Step, held: Held): StepAppend | LandfallError {
  try {
    return sealedAppend(step, held)
  } catch (error) {
    if (error instanceof LandfallError) return error
    return new LandfallError('INTERNAL', 'A step could not be written down. Report this as a bug.', { cause: error })
  }
}

/** A planned step as the store takes it: packed, chained, with its content and with what a listing shows. */
function sealedAppend(step: Step, held: Held): StepAppend {
  const { base, facts } = step
  for (const fact of facts) assertForm(fact)
  const { hash, body } = sealStep(base.head.hash, facts)
  const erased = step.world.session?.matches({ lifecycle: 'erased' }) ?? false
  return {
    scope: base.scope,
    step: base.head.step + 1,
    firstSeq: base.head.seq + 1,
    count: facts.length,
    at: facts[0]?.at ?? '',
    prev: base.head.hash,
    hash,
    body,
    firstId: facts[0]?.id ?? '',
    lastId: facts.at(-1)?.id ?? '',
    contents: erased ? [] : [...step.contents.values()],
    shared: [...step.shared.values()].filter((content) => !base.bodies.stored.has(content.digest)),
    owner: base.owner,
    ...(facts.some((fact) => fact.type === 'call.started') ? { control: base.control.version } : {}),
    summary: summaryOf(step.world),
    unfinished: isUnfinished(step.world),
    ...(held.isNew ? { key: base.key } : {}),
    ...(erased ? { erase: true as const } : {}),
    ...(step.answers.length === 0 ? {} : { answers: step.answers }),
  }
}

/** What reading would refuse is never written. The first to notice a malformed value is whoever let it in, not whoever reads. */
function assertForm(fact: UnchainedFact): void {
  const problem = dataProblem(fact.type, fact.data)
  if (problem === null) return
  throw new LandfallError('INTERNAL', 'A fact is not of its form and was not written. Report this as a bug.', {
    details: { type: fact.type, what: problem },
  })
}

/** The facts of a committed step with what the store and the chain gave them. The step is over, so they are completed in place. */
export function storedFacts(step: Step, append: { prev: string; hash: string }, cursor: number): readonly StoredFact[] {
  const { prev, hash } = append
  const first = cursor - step.facts.length + 1
  const stored = step.facts.map((fact, index) => Object.assign(fact, { cursor: first + index, prev, hash }))
  return stored
}

function summaryOf(world: World): SessionSummary {
  const session = world.session
  const context = session?.context
  const lifecycle = (session?.value as { lifecycle?: SessionSummary['state'] } | undefined)?.lifecycle
  return {
    state: lifecycle ?? 'open',
    ...(context?.title == null ? {} : { title: context.title }),
    ...(context?.active == null ? {} : { active: context.active }),
    queued: context === undefined ? 0 : pendingTasks(context).length,
    quarantined: context?.quarantine.length ?? 0,
  }
}

/** Some owner must carry on, or watch a deadline. */
function isUnfinished(world: World): boolean {
  const session = world.session?.context
  if (session === undefined) return false
  if (session.closing !== null || nextToStart(session) !== null) return true
  for (const snapshot of world.tasks.values()) if (!snapshot.matches('pending')) return true
  return false
}
