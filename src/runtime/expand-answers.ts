import type { AgendaItem } from '../../machines/agenda.ts'
import { entries, type TaskContext } from '../../machines/task-context.ts'
import {
  type CapabilityRef,
  type Effect,
  type FinishReason,
  isPlannerTool,
  type TaskId,
} from '../../machines/vocabulary.ts'
import { renderAnswer } from '../context/conversation.ts'
import { utf8Bytes } from '../context/occupancy.ts'
import { canonicalJson } from '../facts/digest.ts'
import { releaseSkills } from './activate-skill.ts'
import { added, needed } from './expand-messages.ts'
import { overBudget, warnings } from './expand-requests.ts'
import type { Step } from './step.ts'
import { boundOf } from './task-bound.ts'

/**
 * The model's answer as a message, and a `call.requested` for each call in it, in its order. What an answer asks for beyond a
 * bound is recorded and not executed.
 */
export function recordAnswer(step: Step, task: TaskId): readonly AgendaItem[] {
  const answer = needed(step.input.answer, 'answer')
  const released = releaseSkills(step, task)
  const told = [...released, ...warnings(step, task)]
  const context = needed(step.world.tasks.get(task), 'task').context
  const cut = cutAnswer(step, task, context)
  if (answer.calls.length === 0) return [...told, added(step, { task, role: 'assistant' }, answer.text), ...cut]
  const items: AgendaItem[] = [...told, assistantWithCalls(step, task)]
  for (const [call, entry] of entries(context))
    if (!isPlannerTool(entry.name)) items.push(requested(step, task, call, entry.index))
  const session = needed(step.world.session, 'session').context
  const bound = boundOf(step, task, 'callsPerTurn')
  const tokens = session.settings.budget?.tokens ?? Number.POSITIVE_INFINITY
  const { used } = step.world
  const over =
    cut.length > 0
      ? cut
      : context.counts.total > bound
        ? overBudget(task, 'callsPerTurn', context.counts.total, bound)
        : used >= tokens
          ? overBudget(task, 'tokens', used, tokens)
          : []
  if (over.length > 0) step.failing.add(task)
  return [...items, ...over]
}

const cutCodes: { readonly [F in FinishReason]?: { readonly code: string; readonly reason: string } } = {
  length: { code: 'MODEL_ANSWER_CUT', reason: 'the answer reached the bound maxOutput and is not whole' },
  filter: { code: 'MODEL_ANSWER_FILTERED', reason: 'the provider stopped the answer by a filter of its own' },
}

/**
 * An answer that somebody cut off is no answer: its text is kept and the turn fails, so that nothing takes it for a whole one; of
 * its calls none is begun. Steering that waits leads to another round, where the model is told what to do about it.
 */
function cutAnswer(step: Step, task: TaskId, context: TaskContext): readonly AgendaItem[] {
  const answer = needed(step.input.answer, 'answer')
  const cut = cutCodes[answer.finish]
  if (cut === undefined || (answer.calls.length === 0 && context.steering.length > 0)) return []
  step.failing.add(task)
  return [{ ask: 'failTask', task, ...cut }]
}

function assistantWithCalls(step: Step, task: TaskId): AgendaItem {
  const answer = needed(step.input.answer, 'answer')
  const message = step.newId()
  const toolCalls = answer.calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }))
  const body = canonicalJson({ content: answer.text, toolCalls })
  // Rendered from what is stored, so that a request built again is the same to the letter.
  step.base.bodies.messages.set(message, renderAnswer(body))
  const data = {
    message,
    role: 'assistant' as const,
    ...step.put(body),
    toolCalls: answer.calls.map((call) => ({ call: call.id, name: call.name })),
  }
  return { type: 'message.added', task, data }
}

function requested(step: Step, task: TaskId, call: string, index: number): AgendaItem {
  const { bodies } = step.base
  const asked = needed(step.input.answer?.calls[index], 'call of the answer')
  const context = needed(step.world.tasks.get(task), 'task').context
  const { ref, effect } = namedBy(step, task, asked.name)
  const body = canonicalJson(asked.arguments)
  bodies.arguments.set(call, asked.arguments)
  return {
    type: 'call.requested',
    task,
    call,
    data: {
      name: asked.name,
      ...(ref === undefined ? {} : { ref }),
      ...(effect === undefined ? {} : { effect }),
      arguments: step.put(body).digest,
      bytes: utf8Bytes(body),
      batch: context.step - 1,
      index,
      ...(effect === 'idempotent' ? { idempotencyKey: call } : {}),
    },
  }
}

interface Named {
  readonly ref?: CapabilityRef
  readonly effect?: Effect
}

/**
 * What a name of the answer stands for in the task's own snapshot; nothing for an unknown one. A capability that the host has
 * changed or lost since is still known by what the task was told of it, so that the refusal can say that it is stale.
 */
function namedBy(step: Step, task: TaskId, name: string): Named {
  const desk = needed(step.base.desks.get(task), 'desk')
  const current = desk.tools.get(name) ?? desk.skills.get(name)
  if (current !== undefined) return current
  const refs = step.world.taskRecords.get(task)?.started?.capabilities ?? []
  for (const described of desk.snapshot.capabilities) {
    if (described.name !== name) continue
    const ref = refs.find(({ id }) => id === described.id)
    if (ref !== undefined) return described.kind === 'tool' ? { ref, effect: described.contract.effect } : { ref }
  }
  return {}
}
