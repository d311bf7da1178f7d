import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import { callMachine } from '../../../machines/call.machine.ts'
import { groupMachine } from '../../../machines/group.machine.ts'
import { sessionMachine } from '../../../machines/session.machine.ts'
import { taskMachine } from '../../../machines/task.machine.ts'
import { callInput, callSamples } from './sample-call.ts'
import { callCommands, groupCommands, type SampleCommand, sessionCommands, taskCommands } from './sample-commands.ts'
import type { SampleEvent } from './sample-fact.ts'
import { groupInput, groupSamples } from './sample-group.ts'
import { sessionInput, sessionSamples } from './sample-session.ts'
import { taskInput, taskSamples } from './sample-task.ts'
import type { ChartKind } from './simulated-world.ts'

/** A chart to draw and to try out. */
export interface ShownChart {
  readonly name: string
  readonly machine: AnyStateMachine
  /** What it begins with, where nothing else is said. */
  readonly input?: unknown
  /** Events to offer. Absent: those that the chart itself names, without anything but their type. */
  readonly samples?: (snapshot: AnyMachineSnapshot) => readonly SampleEvent[]
  /** Commands to offer, which the functions of `machines/` decide. */
  readonly commands?: {
    readonly kind: ChartKind
    readonly samples: (at: AnyMachineSnapshot) => readonly SampleCommand[]
  }
}

/** The charts of session, task, call and group, with facts that fit them. */
export const ownCharts: readonly ShownChart[] = [
  {
    name: 'session',
    machine: sessionMachine,
    input: sessionInput,
    samples: ({ context }) => sessionSamples(context),
    commands: { kind: 'session', samples: ({ context }) => sessionCommands(context) },
  },
  {
    name: 'task',
    machine: taskMachine,
    input: taskInput,
    samples: ({ context }) => taskSamples(context),
    commands: { kind: 'task', samples: ({ context }) => taskCommands(context) },
  },
  {
    name: 'call',
    machine: callMachine,
    input: callInput,
    samples: ({ context }) => callSamples(context),
    commands: { kind: 'call', samples: ({ context }) => callCommands(context) },
  },
  {
    name: 'group',
    machine: groupMachine,
    input: groupInput,
    samples: ({ context }) => groupSamples(context),
    commands: { kind: 'group', samples: ({ context }) => groupCommands(context) },
  },
]
