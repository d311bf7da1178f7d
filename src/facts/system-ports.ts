import { randomBytes } from 'node:crypto'
import { ulidIds } from './ids.ts'
import type { Clock, Ids, Logger, Random, Scheduler } from './ports.ts'

/** Longest delay that Node's timers take; a longer one would fire at once. */
const longestDelayMs = 2 ** 31 - 1

export const systemClock: Clock = { now: () => Date.now() }

export const systemRandom: Random = {
  next: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  bytes: (count) => randomBytes(count),
}

export function systemIds(clock: Clock = systemClock, random: Random = systemRandom): Ids {
  return ulidIds(clock, random)
}

export interface SchedulerOptions {
  readonly clock?: Clock
  /** true: pending timers do not keep the process alive. For polling and renewing, never for work that somebody awaits. */
  readonly background?: boolean
}

/** Real timers. One that Node fires early, or that is further away than Node can wait, is armed again. */
export function systemScheduler(options: SchedulerOptions = {}): Scheduler {
  const clock = options.clock ?? systemClock
  return {
    at: (at, task) => armed(at, task, clock, options.background ?? false),
    soon: (task) => {
      setImmediate(task)
    },
  }
}

function armed(at: number, task: () => void, clock: Clock, background: boolean): () => void {
  let timer: NodeJS.Timeout
  const arm = () => {
    const delay = Math.min(Math.max(0, Math.ceil(at - clock.now())), longestDelayMs)
    timer = setTimeout(fire, delay)
    if (background) timer.unref()
  }
  const fire = () => {
    if (clock.now() < at) arm()
    else task()
  }
  arm()
  return () => clearTimeout(timer)
}

export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
}
