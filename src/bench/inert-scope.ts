import { type AnyActorScope, type AnyStateMachine, createActor } from 'xstate'

/**
 * A scope that `machine.transition` can be given again and again. XState's own `transition()` builds an actor on each
 * call, which the floor must not be charged for. The charts measured here have no children, so nothing is ever deferred.
 */
export function inertScope(machine: AnyStateMachine): AnyActorScope {
  const self = createActor(machine)
  return {
    self,
    system: self.system,
    id: '',
    sessionId: '',
    logger: () => {},
    defer: () => {},
    emit: () => {},
    stopChild: () => {},
    actionExecutor: () => {},
  }
}
