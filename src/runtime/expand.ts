import type { AgendaItem, Ask } from '../../machines/agenda.ts'
import { recordAnswer } from './expand-answers.ts'
import { cancelMembers, followAwaits, resolveGroup, settleAwait } from './expand-awaits.ts'
import { abortCalls, expireCall, settleUncertain, settleUnstarted } from './expand-call-ends.ts'
import { admitCalls, recheckHolds } from './expand-calls.ts'
import { cancelDescendants, cancelTask, closeIfIdle, concludeBarrier, endTask, failTask } from './expand-ends.ts'
import { awaitAcknowledgement, expirePause, followDecision, restIfIdle } from './expand-pauses.ts'
import { recoverTask, resumeRun } from './expand-recovery.ts'
import { abandonRequest, continueTurn, requestModel } from './expand-requests.ts'
import { answerCalls } from './expand-results.ts'
import { openTurn, startNext, startTask } from './expand-starts.ts'
import type { Step } from './step.ts'

/** The runtime's answer to an ask of a chart: the facts that it stands for. One leaf for each; none performs anything. */
export function expand(step: Step, ask: Ask): readonly AgendaItem[] {
  switch (ask.ask) {
    case 'startTask':
      return startTask(step, ask.task)
    case 'startNext':
      return startNext(step)
    case 'openTurn':
      return openTurn(step, ask.task)
    case 'continueTurn':
      return continueTurn(step, ask.task)
    case 'requestModel':
      return requestModel(step, ask.task)
    case 'recordAnswer':
      return recordAnswer(step, ask.task)
    case 'admitCalls':
      return admitCalls(step, ask.task)
    case 'recheckHolds':
      return recheckHolds(step)
    case 'answerCalls':
      return answerCalls(step, ask.task)
    case 'restIfIdle':
      return restIfIdle(step, ask.task)
    case 'expirePause':
      return expirePause(step, ask.task, ask.token)
    case 'awaitAcknowledgement':
      return awaitAcknowledgement(step, ask.task)
    case 'followDecision':
      return followDecision(step, ask)
    case 'settleUnstarted':
      return settleUnstarted(step, ask.task, ask.why)
    case 'abandonRequest':
      return abandonRequest(step, ask.task, ask.reason)
    case 'abortCalls':
      return abortCalls(step, ask.task)
    case 'expireCall':
      return expireCall(step, ask.task, ask.call)
    case 'settleUncertain':
      return settleUncertain(step, ask.task, ask.call, ask.reason)
    case 'concludeBarrier':
      return concludeBarrier(step, ask.task)
    case 'endTask':
      return endTask(step, ask)
    case 'failTask':
      return failTask(step, ask)
    case 'cancelTask':
      return cancelTask(step, ask)
    case 'recoverTask':
      return recoverTask(step, ask.task)
    case 'closeIfIdle':
      return closeIfIdle(step)
    default:
      return expandAmongTasks(step, ask)
  }
}

type AmongTasks = Extract<
  Ask,
  { ask: 'cancelDescendants' | 'settleAwait' | 'followAwaits' | 'resolveGroup' | 'cancelMembers' | 'resumeRun' }
>

/** What tasks ask of each other. */
function expandAmongTasks(step: Step, ask: AmongTasks): readonly AgendaItem[] {
  switch (ask.ask) {
    case 'cancelDescendants':
      return cancelDescendants(step, ask.task)
    case 'settleAwait':
      return settleAwait(step, ask)
    case 'followAwaits':
      return followAwaits(step)
    case 'resolveGroup':
      return resolveGroup(step, ask.group)
    case 'cancelMembers':
      return cancelMembers(step, ask.group)
    case 'resumeRun':
      return resumeRun(step, ask.task)
  }
}
