import { execFile } from 'node:child_process'
import { constants, existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { HeldBound } from '../../workspace/sandbox.ts'
import type { CliContext } from '../cli-context.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Settings } from '../settings.ts'

interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  /** Landfall does not work without it. */
  readonly needed: boolean
  /** Of a sandbox: how each of its bounds holds here. */
  readonly bounds?: readonly HeldBound[]
}

const answerMs = 5_000
const oldest = [20, 19] as const
const isolations = ['bubblewrap', 'docker'] as const

/** What works on this machine and why not. Fails only for what nothing works without. */
export async function doctor({ settings, output }: CliContext): Promise<number> {
  const checks = await Promise.all([
    node(),
    sqlite(),
    store(settings.db),
    program('git', ['--version'], 'to apply the patch of a workspace'),
    ...isolations.map((isolation) => sandbox(isolation, settings)),
  ])
  const ok = checks.every((check) => check.ok || !check.needed)
  output.result({ ok, checks }, () =>
    checks.map((check) => `${check.ok ? 'ok ' : check.needed ? 'BAD' : 'no '} ${check.name}: ${check.detail}`),
  )
  return ok ? exitCodes.done : exitCodes.failed
}

async function node(): Promise<Check> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const ok = major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
  const detail = ok
    ? process.versions.node
    : `${process.versions.node} is older than ${oldest.join('.')}; install a newer one`
  return { name: 'node', ok, detail, needed: true }
}

async function sqlite(): Promise<Check> {
  try {
    const { default: Database } = await import('better-sqlite3')
    const db = new Database(':memory:')
    const version = String(db.prepare('select sqlite_version()').pluck().get())
    db.close()
    return { name: 'better-sqlite3', ok: true, detail: `SQLite ${version}`, needed: true }
  } catch (error) {
    const detail = `does not load (${firstLine(error)}); run npm rebuild better-sqlite3`
    return { name: 'better-sqlite3', ok: false, detail, needed: true }
  }
}

async function store(file: string): Promise<Check> {
  const name = 'store'
  try {
    if (!existsSync(file)) {
      await access(dirname(resolve(file)), constants.W_OK)
      return { name, ok: true, detail: `${file} will be made by the first turn`, needed: true }
    }
    const { default: Database } = await import('better-sqlite3')
    const db = new Database(file, { fileMustExist: true })
    try {
      // Takes the lock of a writer and changes nothing.
      db.exec('BEGIN IMMEDIATE; ROLLBACK')
    } finally {
      db.close()
    }
    return { name, ok: true, detail: `${file} can be written`, needed: true }
  } catch (error) {
    return { name, ok: false, detail: `${file} cannot be written (${firstLine(error)})`, needed: true }
  }
}

/** Runs a program in a real sandbox, and says which of its bounds this host cannot enforce. */
async function sandbox(isolation: (typeof isolations)[number], { image }: Settings): Promise<Check> {
  const [{ sandboxReport }, { unenforced }] = await Promise.all([
    import('../../workspace/open-workspace.ts'),
    import('../../workspace/held-bounds.ts'),
  ])
  const report = await sandboxReport(isolation, image === undefined ? {} : { image })
  const weak = unenforced(report.bounds)
  const weaker = weak.length === 0 ? '' : `; not enforced here: ${weak.join(', ')}`
  const purpose = report.works ? '' : ' Needed for isolated workspaces.'
  const detail = `${report.detail}${weaker}${purpose}`
  return { name: isolation, ok: report.works, detail, needed: false, bounds: report.bounds }
}

function program(command: string, words: readonly string[], purpose: string): Promise<Check> {
  return new Promise((done) => {
    execFile(command, words, { timeout: answerMs }, (error, stdout, stderr) => {
      const name = command
      if (error === null) return done({ name, ok: true, detail: stdout.trim() || 'works', needed: false })
      const missing = error.code === 'ENOENT'
      const why = missing ? 'not installed' : error.killed ? 'does not answer' : firstLine(stderr || error.message)
      return done({ name, ok: false, detail: `${why}; needed ${purpose}`, needed: false })
    })
  })
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.trim().split('\n')[0] ?? ''
}
