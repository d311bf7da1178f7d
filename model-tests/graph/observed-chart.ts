import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyTransitionDefinition,
  createActor,
  type InspectionEvent,
} from 'xstate'
import type { Fact } from '../../machines/facts.ts'

export interface Seen {
  readonly next: AnyMachineSnapshot
  /** Transitions in the order in which they were taken, eventless ones included. */
  readonly taken: readonly AnyTransitionDefinition[]
  /** What the chart asked for: named actions with their parameters. */
  readonly asked: readonly { readonly type: string; readonly params: unknown }[]
  /** Inspection events that only a living actor sends. */
  readonly alive: readonly string[]
}

/** What a chart that is only calculated tells an inspector; a started or spawned actor tells more. */
const ofCalculation = new Set(['@xstate.microstep', '@xstate.transition', '@xstate.action'])

/**
 * Owns: one inert scope for a chart, and what the chart reports through it while a single transition is calculated.
 * 1. The actor in it is never started.
 * 2. Everything collected belongs to the newest call.
 */
export class ObservedChart {
  readonly machine: AnyStateMachine
  readonly #scope: AnyActorScope
  #taken: AnyTransitionDefinition[] = []
  #asked: { type: string; params: unknown }[] = []
  #alive: string[] = []

  constructor(machine: AnyStateMachine, birth: Fact) {
    this.machine = machine
    const self = createActor(machine, { input: birth, inspect: (event) => this.#report(event) })
    this.#scope = {
      self,
      system: self.system,
      id: '',
      sessionId: '',
      logger: () => {},
      defer: () => {},
      emit: () => {},
      stopChild: () => {},
      actionExecutor: ({ type, params }) => {
        this.#asked.push({ type, params })
      },
    }
  }

  birth(fact: Fact): Seen {
    return this.#seen(() => this.machine.getInitialSnapshot(this.#scope, fact))
  }

  offer(snapshot: AnyMachineSnapshot, fact: Fact): Seen {
    return this.#seen(() => this.machine.transition(snapshot, fact, this.#scope))
  }

  #seen(calculate: () => AnyMachineSnapshot): Seen {
    this.#taken = []
    this.#asked = []
    this.#alive = []
    const next = calculate()
    return { next, taken: this.#taken, asked: this.#asked, alive: this.#alive }
  }

  #report(event: InspectionEvent): void {
    if (event.type === '@xstate.microstep') this.#taken.push(...event._transitions)
    else if (!ofCalculation.has(event.type)) this.#alive.push(event.type)
  }
}
