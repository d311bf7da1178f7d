import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, systemScheduler } from '../../src/facts/system-ports.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { logContract } from '../contract/log-contract.ts'
import { FakeHost } from '../contract/log-harness.ts'

logContract('sqlite', async () => {
  const host = new FakeHost()
  const folder = mkdtempSync(join(tmpdir(), 'landfall-log-'))
  // Leases are in the host's time, polling in real time.
  const real = systemScheduler({ background: true })
  const scheduler = {
    at: (at: number, task: () => void) => real.at(systemClock.now() + at - host.clock.now(), task),
    soon: (task: () => void) => real.soon(task),
  }
  return {
    host,
    open: async () => sqliteLog(join(folder, 'store.db'), { clock: host.clock, processes: host.processes, scheduler }),
    advance: async (ms) => host.advance(ms),
    dispose: async () => rmSync(folder, { recursive: true, force: true }),
  }
})
