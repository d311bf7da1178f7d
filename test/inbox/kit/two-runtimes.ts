import { onTestFinished } from 'vitest'
import type { Log } from '../../../src/facts/log-port.ts'
import type { Model } from '../../../src/facts/ports.ts'
import { memoryLog } from '../../../src/log/memory/memory-log.ts'
import { sqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { scriptedModel } from '../../../src/models/scripted-model.ts'
import { openRuntime, type Runtime } from '../../../src/runtime/open-runtime.ts'
import type { RuntimeOptions } from '../../../src/runtime/options.ts'
import { tempFile } from '../../log/temp-store.ts'

/** How a second runtime reaches the store of the first: through the same object, or through the same file. */
export const stores: readonly (readonly [name: string, open: () => () => Log])[] = [
  [
    'memory',
    () => {
      const log = memoryLog()
      return () => log
    },
  ],
  [
    'sqlite',
    () => {
      const file = tempFile()
      return () => sqliteLog(file)
    },
  ],
]

export const scope = { tenant: 't', user: 'u', session: 's' }

/** Opens runtimes on one store; all are closed after the test. */
export function runtimesOn(openStore: () => Log): (options?: Partial<RuntimeOptions>) => Promise<Runtime> {
  return async (options = {}) => {
    const log = openStore()
    const runtime = await openRuntime({ model: hanging(), limits: { graceMs: 0 }, ...options, log })
    onTestFinished(async () => {
      await runtime.close()
      await log.close()
    })
    return runtime
  }
}

/** A model that never answers, so that a turn stays active. */
export function hanging(): Model {
  return scriptedModel({ name: 'scripted', otherwise: { hang: true } })
}

export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`it did not come about: ${what}`)
}
