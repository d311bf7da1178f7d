import type { AnyMachineSnapshot } from 'xstate'
import type { Fact } from '../../machines/facts.ts'
import { type GroupContext, groupMachine } from '../../machines/group.machine.ts'
import { sampleId } from '../../test/facts/sample-facts.ts'
import { sampleFact } from './sample-fact.ts'
import type { Journey } from './walk.ts'

const group = sampleId(50)
const members = [sampleId(10), sampleId(11)]

function facts(snapshot: AnyMachineSnapshot): readonly Fact[] {
  const context: GroupContext = snapshot.context
  return [
    sampleFact('group.sealed', { group }),
    sampleFact('group.resolved', { group }),
    sampleFact('group.cancelled', { group }),
    ...members.flatMap((task) => memberFacts(context, task)),
  ]
}

/** A task is born once and ends once; other facts of it concern no group. */
function memberFacts({ members: joined, living }: GroupContext, task: string): readonly Fact[] {
  if (!joined.includes(task))
    return [sampleFact('task.created', { kind: 'background', origin: 'spawn', group }, { task })]
  if (!(task in living)) return []
  return [
    sampleFact('task.completed', {}, { task }),
    sampleFact('task.failed', {}, { task }),
    sampleFact('task.cancelled', {}, { task }),
  ]
}

export const groupJourney: Journey = {
  machine: groupMachine,
  births: [
    sampleFact('group.created', { group, failFast: false }),
    sampleFact('group.created', { group, failFast: true }),
  ],
  alphabets: [facts],
  project: ({ value, context }) => {
    const { failFast, members: joined, living }: GroupContext = context
    return [value, failFast, joined, Object.keys(living).sort()]
  },
  statesMax: 200,
}
