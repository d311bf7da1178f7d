import { expect, it } from 'vitest'
import { callMachine, foldCall } from '../../machines/call.machine.ts'
import { ChartMemory, type Emitted } from '../../machines/chart-memory.ts'
import type { Fact } from '../../machines/facts.ts'
import { sessionMachine } from '../../machines/session.machine.ts'
import { foldSession } from '../../machines/session-fold.ts'
import { taskMachine } from '../../machines/task.machine.ts'
import { foldTask } from '../../machines/task-fold.ts'
import { inertScope } from '../../src/bench/inert-scope.ts'
import { recordedSessions } from './recorded-sessions.ts'

type Machine = typeof sessionMachine | typeof taskMachine | typeof callMachine

/** One chart twice: as XState runs it, and as its memory does. */
class Twins {
  readonly #machine: Machine
  readonly #emitted: Emitted[] = []
  readonly #bare: Emitted[] = []
  readonly #scope: object
  readonly #memory: { transition(snapshot: never, fact: Fact): unknown }
  compared = 0

  constructor(machine: Machine, fold: (context: never, fact: Fact) => unknown) {
    this.#machine = machine
    const scopeInto = (list: Emitted[]) => ({
      ...inertScope(machine),
      actionExecutor: (action: Emitted) => void list.push(action),
    })
    this.#scope = scopeInto(this.#bare)
    this.#memory = new ChartMemory({
      machine,
      scope: scopeInto(this.#emitted),
      emitted: this.#emitted,
      fold: fold as never,
    })
  }

  begin(fact: Fact): unknown {
    return this.#machine.getInitialSnapshot(this.#scope as never, fact as never)
  }

  /** The next snapshot; both have given the same one, with the same actions, or both have refused. */
  move(snapshot: unknown, fact: Fact): unknown {
    this.#emitted.length = 0
    this.#bare.length = 0
    const bare: unknown = this.#machine.transition(snapshot as never, fact as never, this.#scope as never)
    const remembered = this.#memory.transition(snapshot as never, fact)
    this.compared += 1
    if (bare === snapshot) {
      expect(remembered).toBeNull()
      return snapshot
    }
    const { value, context, status, _nodes } = bare as {
      value: unknown
      context: unknown
      status: string
      _nodes: object[]
    }
    expect(remembered).toMatchObject({ value, status })
    expect((remembered as { context: unknown }).context).toEqual(context)
    expect(new Set((remembered as { _nodes: object[] })._nodes)).toEqual(new Set(_nodes))
    expect(asked(this.#emitted)).toEqual(asked(this.#bare))
    return remembered
  }
}

function asked(actions: readonly Emitted[]): unknown[] {
  return actions.filter((action) => action.params !== undefined).map(({ type, params }) => ({ type, params }))
}

it('answers for every fact of recorded sessions as machine.transition does, refused ones included', async () => {
  const session = new Twins(sessionMachine, foldSession)
  const task = new Twins(taskMachine, foldTask)
  const call = new Twins(callMachine, foldCall)
  for (const facts of await recordedSessions()) {
    let open: unknown = null
    const tasks = new Map<string, unknown>()
    const calls = new Map<string, unknown>()
    for (const fact of facts) {
      open = open === null ? session.begin(fact) : session.move(open, fact)
      offer(tasks, { of: task, id: fact.task }, fact)
      // Every living chart is offered every fact, so that refusals are compared as often as acceptances.
      for (const [id, snapshot] of tasks) if (id !== fact.task) task.move(snapshot, fact)
      for (const [id, snapshot] of calls) if (id !== fact.call) call.move(snapshot, fact)
      if (fact.call !== null) offer(calls, { of: call, id: fact.call }, fact)
    }
  }
  for (const twins of [session, task, call]) expect(twins.compared).toBeGreaterThan(100)
})

function offer(live: Map<string, unknown>, { of, id }: { of: Twins; id: string | null }, fact: Fact): void {
  if (id === null) return
  const snapshot = live.get(id)
  live.set(id, snapshot === undefined ? of.begin(fact) : of.move(snapshot, fact))
}
