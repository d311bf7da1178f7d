import { LandfallError } from '../facts/errors.ts'
import { systemClock, systemScheduler } from '../facts/system-ports.ts'
import type { Outcome } from '../runtime/outcome.ts'
import type { TaskHandle } from '../runtime/task-handle.ts'
import type { OpenSession } from './open-session.ts'
import type { TurnProgress } from './turn-progress.ts'

const lookMs = 500

/**
 * Waits for the outcome of a task, whoever works on it. Ends with an error when the task now waits for a person, and takes the
 * session over when the process that worked on it is gone.
 */
export async function stayWithTask(open: OpenSession, task: TaskHandle, progress: TurnProgress): Promise<Outcome> {
  const paused = progress.paused(task.id).then((reasons): never => {
    throw new LandfallError('TASK_PAUSED', 'The turn is paused. landfall show lists what to confirm or to resume.', {
      details: { task: task.id, reasons },
    })
  })
  const outcome = task.outcome()
  const ended = outcome.then(
    () => true,
    () => true,
  )
  const watched = watch(open, task.id, ended)
  return Promise.race([outcome, paused, watched])
}

/** Looks from time to time; the timer also keeps the process alive while another one works. Resolves never. */
async function watch(open: OpenSession, id: string, ended: Promise<boolean>): Promise<never> {
  for (;;) {
    const task = (await open.session.tasks()).find((each) => each.id === id)
    if (task?.state === 'blocked')
      throw new LandfallError('TASK_BLOCKED', 'The turn before it did not complete. Unblock, replace or cancel it.', {
        details: { task: id },
      })
    if (!open.worksHere()) await open.takeOver()
    const over = await Promise.race([ended, later()])
    if (over) return new Promise<never>(() => {})
  }
}

function later(): Promise<false> {
  return new Promise((resolve) => void systemScheduler().at(systemClock.now() + lookMs, () => resolve(false)))
}
