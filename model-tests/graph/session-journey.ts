import type { AnyMachineSnapshot } from 'xstate'
import type { Fact } from '../../machines/facts.ts'
import { sessionMachine } from '../../machines/public.ts'
import { predecessorNow, type SessionContext } from '../../machines/session-context.ts'
import { sampleId } from '../../test/facts/sample-facts.ts'
import { taskAccepts } from './neighbours.ts'
import { sampleFact } from './sample-fact.ts'
import type { Journey } from './walk.ts'

/** Two turns and a background task, two calls and one steering message: the fewest with which every guard has both answers. */
const turns = [sampleId(10), sampleId(11)]
const background = sampleId(12)
const calls = [sampleId(30), sampleId(31)]
const message = sampleId(40)

function turnFacts(snapshot: AnyMachineSnapshot): readonly Fact[] {
  const context: SessionContext = snapshot.context
  return [
    ...sessionFacts(context),
    ...turns.flatMap((task) => (task in context.tasks ? lifeFacts(context, task) : turnBirths(context, task))),
  ]
}

function sideFacts(snapshot: AnyMachineSnapshot): readonly Fact[] {
  const context: SessionContext = snapshot.context
  const [turn = ''] = turns
  return [
    ...sessionFacts(context),
    ...quarantineFacts(context),
    ...steeringFacts(context),
    ...(turn in context.tasks ? lifeFacts(context, turn) : turnBirths(context, turn)),
    ...(background in context.tasks ? lifeFacts(context, background) : [spawned(), spawned(turn)]),
  ]
}

function sessionFacts(context: SessionContext): readonly Fact[] {
  return [
    sampleFact('session.owned', { epoch: context.epoch + 1 }),
    sampleFact('session.owned', { epoch: context.epoch }),
    sampleFact('session.restored', { turns: 1, quarantined: [] }),
    sampleFact('session.restored', { turns: 1, quarantined: calls.slice(0, 1) }),
    sampleFact('session.closing', { then: 'close' }),
    sampleFact('session.closing', { then: 'erase' }),
    sampleFact('session.closed'),
    sampleFact('session.reopened'),
    sampleFact('session.erased'),
    sampleFact('settings.changed'),
  ]
}

function quarantineFacts(context: SessionContext): readonly Fact[] {
  return [
    ...calls
      .filter((call) => !context.quarantine.includes(call))
      .map((call) => sampleFact('mutation.quarantined', { calls: [call] })),
    ...[[], ...calls.map((call) => [call]), calls].map((some) => sampleFact('mutation.acknowledged', { calls: some })),
  ]
}

function steeringFacts(context: SessionContext): readonly Fact[] {
  return context.orphans.flatMap(({ from, messages }) => [
    ...(context.active === null
      ? []
      : [sampleFact('steering.inherited', { from, messages }, { task: context.active })]),
    sampleFact('steering.expired', { messages }, { task: from }),
  ])
}

function turnBirths(context: SessionContext, task: string): readonly Fact[] {
  const predecessor = predecessorNow(context)
  const after = predecessor === null ? {} : { predecessor }
  return [
    sampleFact('task.created', { origin: 'start' }, { task }),
    sampleFact('task.created', { origin: 'follow_up', ...after }, { task }),
    sampleFact('task.created', { origin: 'follow_up', requires: 'success', ...after }, { task }),
    sampleFact('task.created', { origin: 'supersede' }, { task }),
  ]
}

/** Without a parent, or below a turn in whatever state it is. */
function spawned(parent?: string): Fact {
  const below = parent === undefined ? {} : { parent }
  const data = { origin: 'spawn', kind: 'background', propagate: 'cascade', ...below } as const
  const fact = sampleFact('task.created', data, { task: background })
  if (parent !== undefined) return fact
  const { parent: _, ...alone } = fact.data
  return { ...fact, data: alone }
}

function lifeFacts(context: SessionContext, task: string): readonly Fact[] {
  const phase = context.tasks[task]?.phase ?? 'pending'
  const all = [
    sampleFact('task.blocked', { predecessor: turns[0] ?? '' }, { task }),
    sampleFact('task.unblocked', {}, { task }),
    sampleFact('task.started', {}, { task }),
    sampleFact('task.cancelling', { steering: 'inherit' }, { task }),
    sampleFact('task.cancelling', { steering: 'expire' }, { task }),
    ...(context.orphans.length === 0 ? [[], [message]] : [[]]).flatMap((pendingSteering) => [
      sampleFact('task.completed', { pendingSteering }, { task }),
      sampleFact('task.failed', { pendingSteering }, { task }),
      sampleFact('task.cancelled', { pendingSteering }, { task }),
      sampleFact('task.superseded', { pendingSteering }, { task }),
    ]),
  ]
  return all.filter(({ type }) => taskAccepts(phase, type))
}

export const sessionJourney: Journey = {
  machine: sessionMachine,
  births: [sampleFact('session.opened')],
  alphabets: [turnFacts, sideFacts],
  project: ({ value, context }) => {
    const { tasks, queue, slot, active, orphans, quarantine, closing }: SessionContext = context
    const phases = [...turns, background].map((task) => tasks[task]?.phase)
    return [
      value,
      phases,
      queue.map(({ task, requires, blocked }) => [task, requires, blocked]),
      slot,
      active,
      orphans.length,
      [...quarantine].sort(),
      closing,
      context.turns === 0,
    ]
  },
  statesMax: 60_000,
}
