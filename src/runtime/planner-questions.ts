import type { Question } from '../../machines/wait.ts'
import type { PlannerInput } from '../capabilities/planner-tools.ts'
import { canonicalJson } from '../facts/digest.ts'
import { isFullOfPauses } from './expand-pauses.ts'
import { freeText } from './free-text.ts'
import { newToken } from './pause-token.ts'
import { type Asked, type Begun, failed, type Performed, type Told } from './planner-result.ts'
import type { Step } from './step.ts'

/** A pause of the task itself, for an input. The whole question is content; the fact holds its redacted beginning. */
export function askOperator({ step, task }: Asked, input: PlannerInput<'operator_ask'>): Performed | Begun {
  if (isFullOfPauses(step)) return failed('LIMIT_EXCEEDED', 'Too many questions are open in this session.')
  const { question, waitMs } = input
  step.put(canonicalJson(input))
  const data = {
    token: newToken(step),
    reason: 'input' as const,
    subject: freeText(step.base.host.redactor, question),
    ...(waitMs === undefined ? {} : { deadline: step.after(waitMs) }),
  }
  return { facts: [{ type: 'pause.requested', task, data }], waits: true }
}

/** What the model is told of its question; null while it is open. */
export function answerTo(step: Step, { token, decision }: Question): Told | null {
  const { answers } = step.base.bodies
  const answer = answers.get(token)
  answers.delete(token)
  switch (decision) {
    case null:
      return null
    case 'withdrawn':
      return { text: 'Not answered: the question was withdrawn before an answer came.', synthetic: true }
    case 'reject':
      return { text: 'Not answered: the operator turned the question down.', synthetic: true }
    case 'timeout':
      return { text: 'Not answered: the time for an answer is over.', synthetic: true }
    default:
      return { text: answer === undefined ? 'The operator let the work go on without an answer.' : asText(answer) }
  }
}

/** An answer in words is told as it is, anything else as JSON. */
function asText(answer: string): string {
  const value: unknown = JSON.parse(answer)
  return typeof value === 'string' ? value : answer
}
