import { hostProcesses, thisInstance } from '../../src/facts/processes.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { claimed } from '../contract/log-harness.ts'

/** Runs in a process of its own: appends steps to one session, one at a time, and prints each durable cursor. */
export async function writeSteps(file: string, session: string, steps: number): Promise<void> {
  const log = sqliteLog(file)
  const instance = thisInstance(`process-${process.pid}`, hostProcesses())
  const draft = await claimed(log, { tenant: 't', user: 'u', session }, instance)
  for (let i = 0; i < steps; i += 1) {
    const cursor = await draft.append(log, { unfinished: true })
    process.stdout.write(`${cursor}\n`)
  }
  await log.close()
}
