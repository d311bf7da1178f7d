import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { logContract } from '../contract/log-contract.ts'
import { FakeHost } from '../contract/log-harness.ts'

logContract('memory', async () => {
  const host = new FakeHost()
  const log = memoryLog({ clock: host.clock, processes: host.processes })
  return {
    host,
    open: async () => log,
    advance: async (ms) => host.advance(ms),
    dispose: async () => {},
  }
})
