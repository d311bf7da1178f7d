/**
 * The checker of one session. It owns the session's projection and the running hash of its chain.
 *
 * 1. Rules judge a fact before folds take it in.
 * 2. A step is judged whole when the next one begins or the log ends.
 * 3. A fact that cannot be read is a violation like any other and stops nothing.
 */
import type { StoredFact } from '../../facts/envelope.ts'
import { controlScope, scopeKey } from '../../facts/scope.ts'
import { bounds } from './bounds.ts'
import { addToStep, type Chain, closeStep, emptyChain, hashedText, openStep } from './chain.ts'
import { foldAwait, foldGroup, foldOffer } from './folds/fold-background.ts'
import { foldCall, foldPause } from './folds/fold-call.ts'
import { foldContext } from './folds/fold-context.ts'
import { foldModel } from './folds/fold-model.ts'
import { foldSession, foldStore } from './folds/fold-session.ts'
import { foldSteering } from './folds/fold-steering.ts'
import { foldTask } from './folds/fold-task.ts'
import type { Judged, Rule } from './rule.ts'
import { awaitsRule } from './rules/awaits.ts'
import { barrierRule } from './rules/barrier.ts'
import { callEdgesRule } from './rules/call-edges.ts'
import { callStartRule } from './rules/call-start.ts'
import { capabilitiesRule } from './rules/capabilities.ts'
import { cascadeRule } from './rules/cascade.ts'
import { commandsRule } from './rules/commands.ts'
import { compactionRule } from './rules/compaction.ts'
import { controlStreamRule } from './rules/control-stream.ts'
import { conversationRule } from './rules/conversation.ts'
import { dependencyRule } from './rules/dependency.ts'
import { foregroundRule } from './rules/foreground.ts'
import { grantsRule } from './rules/grants.ts'
import { groupsRule } from './rules/groups.ts'
import { lanesRule } from './rules/lanes.ts'
import { modelRequestsRule } from './rules/model-requests.ts'
import { pausesRule } from './rules/pauses.ts'
import { plainFieldsRule } from './rules/plain-fields.ts'
import { quarantineRule } from './rules/quarantine.ts'
import { repetitionRule } from './rules/repetition.ts'
import { restRule } from './rules/rest.ts'
import { restoredRule } from './rules/restored.ts'
import { sequenceRule } from './rules/sequence.ts'
import { sessionLifecycleRule } from './rules/session-lifecycle.ts'
import { spawnRule } from './rules/spawn.ts'
import { steeringRule } from './rules/steering.ts'
import { taskEdgesRule } from './rules/task-edges.ts'
import { terminalDataRule } from './rules/terminal-data.ts'
import { emptySession, type SessionView } from './session-view.ts'
import { emptyStep } from './step-view.ts'
import type { StoreView } from './store-view.ts'
import type { Report } from './violation.ts'

const rules: readonly Rule[] = [
  sequenceRule,
  sessionLifecycleRule,
  taskEdgesRule,
  barrierRule,
  terminalDataRule,
  foregroundRule,
  dependencyRule,
  steeringRule,
  callEdgesRule,
  callStartRule,
  quarantineRule,
  pausesRule,
  modelRequestsRule,
  conversationRule,
  grantsRule,
  spawnRule,
  cascadeRule,
  groupsRule,
  awaitsRule,
  lanesRule,
  restoredRule,
  restRule,
  capabilitiesRule,
  compactionRule,
  repetitionRule,
  commandsRule,
  controlStreamRule,
  plainFieldsRule,
]

const folds: readonly ((view: SessionView, fact: StoredFact) => void)[] = [
  foldSession,
  foldStore,
  foldGroup,
  foldTask,
  foldPause,
  foldCall,
  foldSteering,
  foldModel,
  foldAwait,
  foldOffer,
  foldContext,
]

export interface SessionChecker {
  push(fact: StoredFact): void
  end(): void
}

function judged(view: SessionView, fact: StoredFact, report: Report): Judged {
  const task = fact.task === null ? undefined : view.tasks.get(fact.task)
  const call = fact.call === null ? undefined : task?.calls.get(fact.call)
  return { view, fact, task, call, report: (invariant, message) => report(invariant, fact.seq, message) }
}

function beginStep(view: SessionView, fact: StoredFact): void {
  view.step = emptyStep(fact.step, fact.seq)
  // An account is of the step that makes the request; it does not keep.
  for (const task of view.tasks.values()) task.accounted = null
}

function take(view: SessionView, fact: StoredFact): void {
  view.lastSeq = fact.seq
  view.lastCursor = fact.cursor
  view.lastId = fact.id
  view.owner = fact.owner
  if (fact.type === 'session.owned' || fact.type === 'session.opened') view.announced = fact.owner?.epoch ?? null
  view.step.count += 1
  if (!view.step.types.has(fact.type)) view.step.types.set(fact.type, fact.seq)
}

/** A record that was changed may have lost fields that a rule reads; the rule then fails, and that is the finding. */
function guarded(seq: number, type: string, report: Report, work: () => void): void {
  try {
    work()
  } catch {
    report('INV-09', seq, `${type} does not have the fields of its type`)
  }
}

function chained(chain: Chain, fact: StoredFact, report: Report): void {
  const text = hashedText(fact)
  addToStep(chain, fact, text, report)
  if (Buffer.byteLength(text) > bounds.factBytes)
    report('INV-23', fact.seq, `a fact is larger than ${bounds.factBytes}`)
}

export function createSessionChecker(first: StoredFact, store: StoreView, report: Report): SessionChecker {
  const { tenant, user, session } = first
  const view = emptySession({ tenant, user, session }, scopeKey(first) === scopeKey(controlScope), store)
  const chain = emptyChain()

  const endStep = (): void => {
    if (view.step.count === 0) return
    closeStep(chain, report)
    for (const rule of rules) guarded(view.step.firstSeq, 'a step', report, () => rule.stepEnd?.(view, report))
  }

  return {
    push(fact) {
      if (view.step.count === 0 || fact.step !== view.step.number) {
        endStep()
        beginStep(view, fact)
        openStep(chain, fact, report)
      }
      guarded(fact.seq, fact.type, report, () => chained(chain, fact, report))
      const context = judged(view, fact, report)
      for (const rule of rules) guarded(fact.seq, fact.type, report, () => rule.fact?.(context))
      for (const fold of folds) guarded(fact.seq, fact.type, report, () => fold(view, fact))
      take(view, fact)
    },
    end: endStep,
  }
}
