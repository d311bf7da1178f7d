import { LandfallError } from '../facts/errors.ts'
import type { Joined } from './group-reads.ts'
import type { Outcome } from './outcome.ts'
import type { Services } from './services.ts'

type Host = Pick<Services['host'], 'clock' | 'limits' | 'scheduler'>

/** Waits for the outcomes of tasks, or until a time; what has none by then goes on. */
export async function awaitTasks(
  host: Host,
  of: { readonly tasks: readonly string[]; readonly outcome: (task: string) => Promise<Outcome> },
  deadline: string | undefined,
): Promise<Joined> {
  const found = new Map<string, Outcome>()
  const all = Promise.all(of.tasks.map(async (task) => void found.set(task, await of.outcome(task))))
  const how = (await within(host, all, deadline)) === null ? 'deadline' : 'done'
  const results = of.tasks.map((task) => {
    const outcome = found.get(task)
    return outcome === undefined ? { task, status: null } : { task, status: outcome.status, outcome }
  })
  return { how, results }
}

/** What is waited for, or null when the deadline comes first. */
export async function within<T>(host: Host, work: Promise<T>, deadline: string | undefined): Promise<T | null> {
  if (deadline === undefined) return work
  const until = typeof deadline === 'string' ? Date.parse(deadline) : Number.NaN
  if (!(until <= host.clock.now() + host.limits.deadlineMs))
    throw new LandfallError('INVALID_INPUT', 'The deadline is no time, or more than ten years away.', {
      details: { field: 'deadline' },
    })
  let stop = () => {}
  const late = new Promise<null>((resolve) => {
    stop = host.scheduler.at(until, () => resolve(null))
  })
  work.catch(() => {})
  return Promise.race([work, late]).finally(() => stop())
}
