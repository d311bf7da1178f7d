import type { OpenSession } from './open-session.ts'
import type { TurnProgress } from './turn-progress.ts'

const atWork: ReadonlySet<string> = new Set(['running', 'cancelling', 'quiescing'])

/** Waits until nothing of the session is at work here: leaving earlier would leave a turn in its middle for the next owner. */
export async function finishWork(open: OpenSession, progress: TurnProgress): Promise<void> {
  while (open.worksHere()) {
    const task = (await open.safely(open.session.tasks())).find(({ state }) => atWork.has(state))
    if (task === undefined) return
    await open.safely(Promise.race([open.session.task(task.id).outcome(), progress.paused(task.id)]))
    await progress.shown(task.id)
  }
}
