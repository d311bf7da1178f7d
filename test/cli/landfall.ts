import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'
import { type Ended, main, type Place } from './cli-process.ts'

/** Loaded by Node itself and not by the runner, so that modules of its user are loaded as they are in a process. */
const required = createRequire(import.meta.url)
const program = fileURLToPath(new URL('../../dist/src/cli/run-cli.js', import.meta.url))
type Program = { runCli(words: readonly string[], version: string): Promise<number> }

let running: readonly string[] | null = null

/**
 * Owns what a command finds in its process (streams, environment, folder) while one runs in this process, which costs a fraction
 * of a process of its own. What is about processes (signals, a closed pipe, a terminal, two at a time) needs `landfallProcess`.
 * 1. One command at a time, because a process has one folder.
 * 2. Everything is as it was before when the command has ended.
 */
export async function landfall(words: readonly string[], place: Omit<Place, 'uid' | 'listens'>): Promise<Ended> {
  if (!existsSync(main)) throw new Error('the command is not built: npm run build')
  if (running !== null) throw new Error(`${words.join(' ')}: still running here: ${running.join(' ')}`)
  running = words
  const { runCli } = required(program) as Program
  const { version } = required('../../package.json') as { version: string }
  const out = new Said()
  const err = new Said()
  const { LANDFALL_DB: _db, NO_COLOR: _color, ...env } = process.env
  const restore = [
    replaced('env', { ...env, ...place.env }),
    replaced('stdin', Readable.from(place.input === undefined ? [] : [Buffer.from(place.input)])),
    replaced('stdout', out),
    replaced('stderr', err),
    ...(['SIGINT', 'SIGTERM'] as const).map(withoutListenersOf),
  ]
  const folder = process.cwd()
  process.chdir(place.cwd)
  try {
    return { code: await runCli(words, version), out: out.text, err: err.text }
  } finally {
    process.chdir(folder)
    for (const each of restore) each()
    running = null
  }
}

/** A process has begun the turn of a session. */
export async function turnRuns(cwd: string, ...scope: readonly string[]): Promise<void> {
  await vi.waitFor(
    async () => expect((await landfall(['tasks', '--json', ...scope], { cwd })).out).toContain('"running"'),
    { timeout: 30_000, interval: 30 },
  )
}

class Said extends Writable {
  text = ''

  override _write(part: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += part.toString()
    done()
  }
}

/** Puts another value in its place, and gives what puts the first one back. */
function replaced(name: 'env' | 'stdin' | 'stdout' | 'stderr', value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(process, name)
  if (before === undefined) throw new Error(`there is no process.${name}`)
  Object.defineProperty(process, name, { value, configurable: true, enumerable: true, writable: true })
  return () => void Object.defineProperty(process, name, before)
}

/** Gives what takes away the listeners that came since, which in a process would have ended with it. */
function withoutListenersOf(signal: NodeJS.Signals): () => void {
  const before = new Set(process.listeners(signal))
  return () => {
    for (const listener of process.listeners(signal)) if (!before.has(listener)) process.off(signal, listener)
  }
}
