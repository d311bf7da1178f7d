import { systemClock, systemScheduler } from '../facts/system-ports.ts'
import type { OpenSession } from './open-session.ts'
import type { TurnProgress } from './turn-progress.ts'

const atWork: ReadonlySet<string> = new Set(['running', 'cancelling', 'quiescing'])
const lookMs = 200

/**
 * Waits until nothing of the session is at work here: leaving earlier would leave a turn in its middle for the next owner. A turn
 * that a pause or a quarantine holds is not at work; it is as it was when somebody decides.
 */
export async function finishWork(open: OpenSession, progress: TurnProgress): Promise<void> {
  while (open.worksHere()) {
    const task = (await open.safely(open.session.tasks())).find(({ state }) => atWork.has(state))
    if (task === undefined || (await isHeld(open, task.id))) return
    await open.safely(Promise.race([open.session.task(task.id).outcome(), progress.paused(task.id), later()]))
  }
}

/** All that is left of its calls waits for a decision of somebody. */
async function isHeld(open: OpenSession, task: string): Promise<boolean> {
  const calls = await open.safely(open.session.calls(task))
  const left = calls.filter(({ outcome }) => outcome === undefined)
  return left.length > 0 && left.every(({ state }) => state === 'held')
}

function later(): Promise<void> {
  return new Promise((resolve) => void systemScheduler().at(systemClock.now() + lookMs, resolve))
}
