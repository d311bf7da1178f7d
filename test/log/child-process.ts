import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export interface ChildWriter {
  readonly process: ChildProcess
  /** Cursors that the child has reported as durable so far. */
  readonly cursors: number[]
  reported(count: number): Promise<void>
  readonly exited: Promise<number | null>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const module = fileURLToPath(new URL('./child-writer.ts', import.meta.url))

/** Node 20 runs no TypeScript, so the child loads the writer through vite. */
const script = `
const { runnerImport } = await import('vite')
const [path, file, session, steps] = process.argv.slice(1)
const { module } = await runnerImport(path, { configFile: false, logLevel: 'silent' })
await module.writeSteps(file, session, Number(steps))
process.exit(0)
`

export function startWriter(file: string, session: string, steps: number): ChildWriter {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, module, file, session, String(steps)], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const cursors: number[] = []
  const waiting: (() => void)[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    cursors.push(Number(line))
    for (const wake of waiting.splice(0)) wake()
  })
  const exited = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))
  void exited.then(() => {
    for (const wake of waiting.splice(0)) wake()
  })
  return {
    process: child,
    cursors,
    exited,
    reported: async (count) => {
      while (cursors.length < count && child.exitCode === null)
        await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}
