import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export interface OwnerProcess {
  /** The first turn of the session. */
  readonly task: string
  /** It keeps its ownership and does nothing more. */
  freeze(): void
  kill(): Promise<void>
}

const root = fileURLToPath(new URL('../../../', import.meta.url))
const module = fileURLToPath(new URL('./owner-process.ts', import.meta.url))

/** Node 20 runs no TypeScript, so the child loads its module through vite. */
const script = `
const { runnerImport } = await import('vite')
const [path, file, turn] = process.argv.slice(1)
const { module } = await runnerImport(path, { configFile: false, logLevel: 'silent' })
await module.own(file, turn)
`

export async function startOwner(file: string, turn: 'active' | 'idle'): Promise<OwnerProcess> {
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', script, module, file, turn], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  if (child.stdout === null) throw new Error('the child has no output')
  const [task] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return {
    task,
    freeze: () => void child.kill('SIGSTOP'),
    kill: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}
