import type { Clock, Ids, Scheduler } from '../../src/facts/ports.ts'

/** Time that moves only when a test says so. */
export function manualTime(): Clock & Scheduler & { advance(ms: number): Promise<void>; pending(): number } {
  let now = 1_000
  let timers: { at: number; task: () => void }[] = []
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns++) await Promise.resolve()
  }
  return {
    now: () => now,
    at(at, task) {
      const timer = { at, task }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    soon: (task) => queueMicrotask(task),
    pending: () => timers.length,
    async advance(ms) {
      const end = now + ms
      await settle()
      for (;;) {
        const due = timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0]
        if (!due) break
        timers = timers.filter((timer) => timer !== due)
        now = Math.max(now, due.at)
        due.task()
        await settle()
      }
      now = end
      await settle()
    },
  }
}

export function countingIds(): Ids {
  let last = 0
  return {
    next: () => {
      last += 1
      return `id-${last}`
    },
  }
}
