import { sqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { openRuntime } from '../../../src/runtime/open-runtime.ts'
import { hanging, scope } from './two-runtimes.ts'

/** Runs in a process of its own: owns the session, with a turn that never ends or with none, and carries out what comes. */
export async function own(file: string, turn: 'active' | 'idle'): Promise<void> {
  const runtime = await openRuntime({ log: sqliteLog(file), model: hanging() })
  const session = runtime.session(scope)
  const { id } = await session.start('the first')
  if (turn === 'idle') {
    await session.cancel()
    await session.task(id).outcome()
  }
  process.stdout.write(`${id}\n`)
  setInterval(() => {}, 1_000)
}
