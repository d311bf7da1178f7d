import { exitCodes } from './exit-codes.ts'

/** Resolves with the first SIGINT or SIGTERM. A second one ends the process at once, as a crash would. */
export function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    let count = 0
    const heard = () => {
      count += 1
      if (count > 1) process.exit(exitCodes.cancelled)
      resolve()
    }
    process.on('SIGINT', heard)
    process.on('SIGTERM', heard)
  })
}
