import type { AgendaItem } from '../../machines/agenda.ts'
import type { CallId, TaskId } from '../../machines/vocabulary.ts'
import {
  isOfferedPlannerTool,
  type PlannerInput,
  type PlannerToolName,
  plannerArguments,
} from '../capabilities/planner-tools.ts'
import { equip } from './desk-builder.ts'
import { added, needed } from './expand-messages.ts'
import { inspect, list, search } from './planner-discovery.ts'
import { endEpisode, startEpisode } from './planner-episodes.ts'
import { activate, load } from './planner-loading.ts'
import { getNote, putNote } from './planner-memory.ts'
import { readObservation } from './planner-observations.ts'
import { answerTo, askOperator } from './planner-questions.ts'
import { type Asked, type Begun, failed, type Performed } from './planner-result.ts'
import { join, joined, spawn } from './planner-tasks.ts'
import type { Step } from './step.ts'

type Performers = { readonly [N in PlannerToolName]: (asked: Asked, input: PlannerInput<N>) => Performed | Begun }

/** Whoever adds a planner tool gives it a schema in the capabilities and a line here. */
const performers: Performers = {
  capabilities_list: list,
  capabilities_search: search,
  capabilities_inspect: inspect,
  tools_load: load,
  skills_activate: activate,
  observation_read: readObservation,
  memory_get: getNote,
  memory_put: putNote,
  episode_start: startEpisode,
  episode_end: endEpisode,
  operator_ask: askOperator,
  task_spawn: spawn,
  task_await: join,
}

/**
 * The facts of a planner tool, and its one tool message. It has no `call.*` facts: nothing outside the runtime happens. One whose
 * answer waits only begins here.
 */
export function performPlannerTool(step: Step, task: TaskId, call: CallId): readonly AgendaItem[] {
  const record = needed(step.world.taskRecords.get(task), 'task record')
  const desk = needed(step.base.desks.get(task), 'desk')
  equip(step.base, desk, record)
  const performed = perform({ step, task, call, record, desk })
  step.base.bodies.fetched.delete(call)
  if ('waits' in performed) return performed.facts
  const { facts, result } = performed
  return [
    ...facts,
    added(step, { task, role: 'tool', forCall: call }, JSON.stringify(result)),
    { ask: 'answerCalls', task },
  ]
}

/** The tool message of a planner tool that had begun and has come to its end; null where none has. */
export function answerWait(step: Step, task: TaskId, call: CallId): readonly AgendaItem[] | null {
  const wait = step.world.waits.get(task)
  if (wait === undefined || wait.call !== call) return null
  const told = wait.kind === 'question' ? answerTo(step, wait) : joined(step, wait)
  if (told === null) return null
  const { text, synthetic } = told
  const of = { task, role: 'tool', forCall: call, ...(synthetic === undefined ? {} : { synthetic }) } as const
  return [added(step, of, text), { ask: 'answerCalls', task }]
}

function perform(asked: Asked): Performed | Begun {
  const { step, call, record } = asked
  const answer = step.base.bodies.messages.get(record.lastAnswer ?? '')
  const wanted = needed(
    answer?.toolCalls?.find(({ id }) => id === call),
    'call of the answer',
  )
  if (!isOfferedPlannerTool(wanted.name)) return failed('NOT_SUPPORTED', 'This tool is not offered here.')
  return performOffered(asked, wanted.name, wanted.arguments)
}

function performOffered<N extends PlannerToolName>(asked: Asked, name: N, given: unknown): Performed | Begun {
  const args = plannerArguments(name, given)
  return args.ok ? performers[name](asked, args.value) : failed('INVALID_ARGUMENTS', args.problem)
}
