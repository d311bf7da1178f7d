import { type AgendaItem, isAsk } from '../../../machines/agenda.ts'
import type { Draft, Fact } from '../../../machines/facts.ts'
import { fold } from '../../../machines/fold.ts'
import type { JsonObject } from '../../../machines/vocabulary.ts'
import type { World } from '../../../machines/world.ts'
import type { ModelAnswer } from '../../models/read-stream.ts'
import type { Step } from '../../runtime/step.ts'
import { standInStep } from './stand-in-step.ts'

/** The world that goes on, as far as that needs to know it. */
export interface GoingOn {
  readonly world: World
  next(draft: Draft): Fact
  concerns(fact: Fact): boolean
  copy(): World
}

/**
 * What a runtime does in the same step behind a fact that was played by hand, as far as the chart that is tried out does not hear of it:
 * messages, accounts, and what other charts go through. It stops before the first fact that the chart would hear of, which is the
 * reader's to play, and returns it with everything behind it.
 */
export function goOn(around: GoingOn, agenda: readonly AgendaItem[], played: Fact | null): readonly AgendaItem[] {
  const step = standInStep(around.world, { by: { kind: 'runtime', id: 'landfall' }, ...answerOf(played) })
  return drive(around, step, agenda)
}

/** The agenda that is left; depth first, as a step goes. */
function drive(around: GoingOn, step: Step, agenda: readonly AgendaItem[]): readonly AgendaItem[] {
  for (const [at, item] of agenda.entries()) {
    const follows = isAsk(item) ? answered(step, item) : folded(around, item as Draft)
    const left = follows === null ? [item] : drive(around, step, follows)
    if (left.length > 0) return [...left, ...agenda.slice(at + 1)]
  }
  return []
}

/** What follows from a fact that was folded; null: it is the reader's. One that its chart would refuse by now is left out. */
function folded(around: GoingOn, draft: Draft): readonly AgendaItem[] | null {
  const fact = around.next(draft)
  if (!around.concerns(fact)) return fold(around.world, fact).agenda
  return isRefused(around, fact) ? [] : null
}

function isRefused(around: GoingOn, fact: Fact): boolean {
  try {
    return fold(around.copy(), fact).refusedBy !== null
  } catch {
    return true
  }
}

/** Where facts that were played by hand make no sense together, nothing can be said of what follows. */
function answered(step: Step, ask: Parameters<Step['base']['expand']>[1]): readonly AgendaItem[] {
  try {
    return step.base.expand(step, ask)
  } catch {
    return []
  }
}

/** Only a question that is one is put to an operator. */
function argumentsOf(name: string): JsonObject {
  return name === 'operator_ask' ? { question: 'Which one?' } : {}
}

/** What the model would have said to be recorded as this fact. */
function answerOf(fact: Fact | null): { readonly answer?: ModelAnswer } {
  if (fact?.type !== 'model.completed') return {}
  const { calls, finish, usage } = fact.data
  const asked = calls.map(({ call, name }) => ({ id: call, name, arguments: argumentsOf(name) }))
  return { answer: { text: 'This was said.', calls: asked, finish, usage, receivedBytes: 0 } }
}

/** The agenda behind a fact that the reader has played: in the place of the one that was due, or of what was due about the same. */
export function withoutPlayed(due: readonly AgendaItem[], { type, task, call }: Fact): readonly AgendaItem[] {
  const [first, ...rest] = due
  if (first === undefined || isAsk(first)) return due
  const isSame = (first.task ?? null) === task && (first.call ?? null) === call
  return isSame || first.type === type ? rest : due
}
