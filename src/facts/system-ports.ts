import { randomBytes } from 'node:crypto'
import { ulidIds } from './ids.ts'
import type { Clock, Ids, Logger, Random, Scheduler } from './ports.ts'

/** Longest delay that Node's timers take; a longer one would fire at once. */
const longestDelayMs = 2 ** 31 - 1

export const systemClock: Clock = { now: () => Date.now() }

/** Random numbers are asked for six bytes at a time, many for each id; the pool asks the system for all of them at once. */
const poolBytes = 6 * 1_024
let pool = Buffer.alloc(0)
let poolAt = 0

function nextRandom(): number {
  if (poolAt >= pool.length) {
    pool = randomBytes(poolBytes)
    poolAt = 0
  }
  const value = pool.readUIntBE(poolAt, 6) / 2 ** 48
  poolAt += 6
  return value
}

export const systemRandom: Random = {
  next: nextRandom,
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
