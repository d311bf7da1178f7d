import { useEffect, useState } from 'preact/hooks'
import type { ConsoleState, ConsoleStore } from './console-store.ts'

/** A part of the store; the component is drawn again when that part is another one. */
export function useConsole<T>(store: ConsoleStore, select: (state: ConsoleState) => T): T {
  const [, setVersion] = useState(0)
  const selected = select(store.getSnapshot().context)
  useEffect(() => {
    let shown = selected
    const look = () => {
      const next = select(store.getSnapshot().context)
      if (Object.is(next, shown)) return
      shown = next
      setVersion((version) => version + 1)
    }
    look()
    const subscription = store.subscribe(look)
    return () => subscription.unsubscribe()
  })
  return selected
}

/** The whole state, for what shows most of it. */
export function useWholeConsole(store: ConsoleStore): ConsoleState {
  return useConsole(store, (state) => state)
}
