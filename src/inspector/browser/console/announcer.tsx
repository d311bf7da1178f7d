import type { ConsoleSession } from './console-session.ts'
import type { ConsoleState } from './console-store.ts'
import { titleOf } from './decisions.tsx'
import { useConsole } from './use-console.ts'

/** Tells who does not see the page what others see change: how the turn stands, and what waits for the reader. */
export function Announcer({ desk }: { desk: ConsoleSession }) {
  return (
    <p class="sr-only" role="status" data-announced>
      {useConsole(desk.store, announced)}
    </p>
  )
}

function announced({ at, live, pauses }: ConsoleState): string {
  // Who looks back has the moment told by the slider.
  if (at !== null || live === null) return ''
  if (pauses.length > 0) return `Waiting for a decision: ${pauses.map(titleOf).join(', ')}`
  const turn = live.tasks.findLast(({ kind, state }) => kind === 'foreground' && state !== 'queued')
  return turn === undefined ? '' : `Turn ${turn.status ?? turn.state}`
}
