import type { ConsoleSession } from './console-session.ts'
import { nothing } from './unsent.ts'
import { useConsole } from './use-console.ts'

/** What is typed into a box of the open session. It is kept, whatever is looked at meanwhile. */
export interface Typed {
  readonly text: string
  readonly type: (text: string) => void
  /** Empties the box, unless something else was typed since. */
  readonly wasSent: (text: string) => void
}

export function useTyped(desk: ConsoleSession, box: string): Typed {
  const { store } = desk
  const key = useConsole(store, () => desk.boxKey(box))
  const text = useConsole(store, ({ unsent }) => unsent[key]?.text ?? '')
  const type = (next: string) => store.trigger.write({ key, unsent: { ...nothing, text: next } })
  const wasSent = (sent: string) => {
    if (store.getSnapshot().context.unsent[key]?.text === sent) type('')
  }
  return { text, type, wasSent }
}
