import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { StoredFact } from '../../src/facts/envelope.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import type { Receipt } from '../../src/runtime/command.ts'
import { readFacts } from '../../src/runtime/read-facts.ts'
import type { Effected } from './wild/wild-world.mjs'

const worker = fileURLToPath(new URL('./wild/worker.mjs', import.meta.url))
const built = fileURLToPath(new URL('../../dist/', import.meta.url))
const main = join(built, 'src/cli/main.js')

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly text: string
}

interface Child {
  readonly process: ChildProcess
  /** Resolves when it has printed so many lines, or is gone. */
  printed(count: number): Promise<void>
  readonly ended: Promise<Ended>
}

function run(words: readonly string[]): Child {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  let over = false
  let wake = () => {}
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
      wake()
    })
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code, signal) => {
      over = true
      wake()
      resolve({ code, signal, text })
    }),
  )
  const printed = async (count: number) => {
    while (!over && text.split('\n').length <= count)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  return { process: child, printed, ended }
}

export interface Moment {
  readonly receipts: number
  readonly ms: number
  /** Another library than the one that was built here. */
  readonly library?: string
}

/** A process works on the store until it has had so many receipts, and is killed a moment later, wherever it is then. */
export async function workAndKill(directory: string, seed: number, at: Moment): Promise<Ended> {
  const child = run([worker, 'work', directory, String(seed), at.library ?? built])
  await child.printed(at.receipts)
  await sleep(at.ms)
  child.process.kill('SIGKILL')
  return child.ended
}

export function finish(directory: string, seed: number): Promise<Ended> {
  return run([worker, 'finish', directory, String(seed), built]).ended
}

export function verify(directory: string): Promise<Ended> {
  return run([main, 'verify', '--all', '--db', join(directory, 'store.db')]).ended
}

function lines<T>(directory: string, file: string): readonly T[] {
  const path = join(directory, file)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): T => JSON.parse(line))
}

export interface Left {
  readonly effects: readonly Effected[]
  readonly receipts: readonly { readonly session: string; readonly id: string; readonly receipt: Receipt }[]
  readonly broken: readonly object[]
  readonly facts: ReadonlyMap<string, readonly StoredFact[]>
}

/** What the killed processes have left: the files beside the store, and the store. */
export async function leftIn(directory: string): Promise<Left> {
  const log = sqliteLog(join(directory, 'store.db'))
  const facts = new Map<string, readonly StoredFact[]>()
  for (const session of ['a', 'b', 'c', 'd'])
    facts.set(session, await readFacts(log, { tenant: 't', user: 'u', session }, {}))
  await log.close()
  return {
    effects: lines(directory, 'effects.jsonl'),
    receipts: lines(directory, 'receipts.jsonl'),
    broken: lines(directory, 'broken.jsonl'),
    facts,
  }
}
