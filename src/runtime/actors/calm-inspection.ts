import { type ActorSystem, toObserver } from 'xstate'

type Inspected = Pick<ActorSystem<never>, 'inspect'>

/**
 * Lets inspectors of the host attach without being able to stop what they look at: XState lets what an inspector throws through to
 * the actor that is told about, which would not follow its session any more. An inspector that throws is told nothing more, and its
 * error is nobody's, as that of any other observer.
 */
export function calmInspection(system: Inspected): void {
  const inspect = system.inspect.bind(system)
  system.inspect = (observerOrListener) => {
    const { next } = toObserver(observerOrListener)
    const subscription = inspect((event) => {
      try {
        next?.(event)
      } catch (error) {
        subscription.unsubscribe()
        queueMicrotask(() => {
          throw error
        })
      }
    })
    return subscription
  }
}
