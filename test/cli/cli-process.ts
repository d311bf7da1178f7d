import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { tempFolder } from '../log/temp-store.ts'

/** The built command, as it is installed. */
export const main = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Started {
  readonly process: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves when standard output or standard error holds the text. */
  shows(text: string): Promise<void>
}

export interface Place {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly uid?: number
  /** Standard input stays open, for what the test is going to say. */
  readonly listens?: true
}

export function start(words: readonly string[], place: Place): Started {
  if (!existsSync(main)) throw new Error('the command is not built: npm run build')
  const { LANDFALL_DB: _db, NO_COLOR: _color, ...env } = process.env
  const as = place.uid === undefined ? {} : { uid: place.uid, gid: place.uid }
  const child = spawn(process.execPath, [main, ...words], { cwd: place.cwd, env: { ...env, ...place.env }, ...as })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let out = ''
  let err = ''
  const waiting = new Set<() => void>()
  const heard = () => {
    for (const look of [...waiting]) look()
  }
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    out += part
    heard()
  })
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    err += part
    heard()
  })
  if (place.listens === true) child.stdin.write(place.input ?? '')
  else child.stdin.end(place.input ?? '')
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, out, err })))
  const shows = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!`${out}${err}`.includes(text)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      void ended.then(() => reject(new Error(`ended without "${text}": ${out}${err}`)))
      look()
    })
  return { process: child, ended, shows }
}

/** A command in a process of its own; `landfall` is cheaper where nothing depends on that. */
export function landfallProcess(words: readonly string[], place: Place): Promise<Ended> {
  return start(words, place).ended
}

/** A folder with a script that looks at the folder, then answers; and one that never answers. */
export function workFolder(): string {
  const cwd = tempFolder()
  const look = [
    { text: 'Looking.', calls: [{ name: 'fs.list', arguments: { path: '.' } }] },
    { chunks: ['You asked ', '{{input}} and I saw {{last}}'] },
  ]
  write(cwd, 'look.json', { name: 'look', everyTurn: look })
  write(cwd, 'hang.json', { name: 'hang', everyTurn: [{ hang: true }] })
  write(cwd, 'fail.json', { name: 'fail', everyTurn: [{ error: { code: 'QUOTA', retryable: false } }] })
  write(cwd, 'say.json', { name: 'say', everyTurn: [{ text: 'Turn {{turn}}: {{input}}' }] })
  return cwd
}

function write(cwd: string, name: string, value: object): void {
  writeFileSync(join(cwd, name), JSON.stringify(value))
}
