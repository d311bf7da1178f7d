import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineTool, memoryLog, openRuntime, type Runtime, scriptedModel } from '../../src/index.ts'
import type { RuntimeOptions } from '../../src/runtime/options.ts'

export const scope = { tenant: 'acme', user: 'ada', session: 'morning' }

/** Releases what waits behind it, once. */
export interface Gate {
  readonly open: () => void
  readonly opened: Promise<void>
}

export function gate(): Gate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

/** A tool that does not return before the test says so, and stops when it is told to. */
export function heldTool(name: string, { opened }: Gate, effect: 'read' | 'mutate' = 'read') {
  return defineTool({
    name,
    description: 'Waits.',
    input: z.object({}),
    effect,
    run: (_, { signal }) =>
      new Promise((resolve, reject) => {
        void opened.then(() => resolve('opened'))
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      }),
  })
}

export const askTool = (name: string) => [
  { text: 'Looking.', calls: [{ name, arguments: {} }] },
  { text: 'Done: {{last}} {{steering}}' },
]

/** A runtime on a store in memory that is closed when the test ends. */
export async function runtimeWith(script: object, options: Partial<RuntimeOptions> = {}): Promise<Runtime> {
  const runtime = await openRuntime({
    log: memoryLog(),
    model: scriptedModel(script as Parameters<typeof scriptedModel>[0]),
    limits: { graceMs: 50 },
    ...options,
  })
  onTestFinished(() => runtime.close())
  return runtime
}
