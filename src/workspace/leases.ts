import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { LandfallError } from '../facts/errors.ts'
import { hostProcesses, type ProcessTable, unknownStart } from '../facts/processes.ts'
import { systemClock, systemRandom } from '../facts/system-ports.ts'

const leaseFile = z.strictObject({
  v: z.literal(1),
  host: z.string(),
  pid: z.number().int(),
  startedAt: z.number(),
  isolation: z.enum(['bubblewrap', 'docker']),
  /** Folders of control groups. */
  groups: z.array(z.string()),
  container: z.string().nullable(),
})

export type LeaseRecord = z.infer<typeof leaseFile>
export type LeaseHoldings = Pick<LeaseRecord, 'isolation' | 'groups' | 'container'>

export interface Lease {
  readonly id: string
  release(): void
}

/** A lease of another host, or one that cannot be read, is somebody's leftover after so long. */
const forgottenMs = 86_400_000

/**
 * Owns: a folder with one file for each sandbox that was begun and is not known to be gone.
 * 1. The file is there before the sandbox is, and goes when the sandbox is gone; so a crash leaves the file.
 * 2. A file whose process is gone, judged by host, number and start like an owner of a session, is swept by whoever opens next.
 * 3. The folder belongs to this user alone; one that somebody else has made is not used.
 */
export class Leases {
  readonly folder: string
  readonly #processes: ProcessTable

  constructor(folder = defaultFolder(), processes: ProcessTable = hostProcesses()) {
    this.folder = folder
    this.#processes = processes
    const found = madeFolder(folder)
    const mine = process.getuid === undefined || found.uid === process.getuid()
    if (!found.isDirectory() || !mine || (found.mode & 0o022) !== 0)
      throw new LandfallError(
        'WORKSPACE_FAILED',
        'The folder for leases of sandboxes is not this user’s own. Remove it.',
        {
          details: { folder },
        },
      )
  }

  take(holdingsOf: (id: string) => LeaseHoldings): Lease {
    const id = Buffer.from(systemRandom.bytes(10)).toString('hex')
    const { host } = this.#processes
    const startedAt = this.#processes.startedAt(process.pid) ?? unknownStart
    const record: LeaseRecord = { v: 1, host, pid: process.pid, startedAt, ...holdingsOf(id) }
    const file = join(this.folder, `${id}.json`)
    writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 })
    renameSync(`${file}.new`, file)
    return { id, release: () => rmSync(file, { force: true }) }
  }

  /** Removes what lost processes left; what cannot be removed now is tried again by the next sweep. */
  async sweep(remove: (record: LeaseRecord) => Promise<void>): Promise<number> {
    let swept = 0
    for (const name of readdirSync(this.folder)) {
      const file = join(this.folder, name)
      const record = this.#lost(file)
      if (record === null) continue
      try {
        if (record !== 'unreadable') await remove(record)
        rmSync(file, { force: true })
        swept += 1
      } catch {
        // Its daemon may be down; the file stays for the next sweep.
      }
    }
    return swept
  }

  /** The record of a lease that nobody holds any more; null for one that somebody does. */
  #lost(file: string): LeaseRecord | 'unreadable' | null {
    try {
      const parsed = file.endsWith('.json') ? leaseFile.safeParse(JSON.parse(readFileSync(file, 'utf8'))) : null
      const old = systemClock.now() - lstatSync(file).mtimeMs > forgottenMs
      if (parsed?.success !== true) return old ? 'unreadable' : null
      const { host, pid, startedAt } = parsed.data
      if (host !== this.#processes.host) return old ? 'unreadable' : null
      return this.#processes.startedAt(pid) === startedAt ? null : parsed.data
    } catch {
      return null
    }
  }
}

function madeFolder(folder: string): Stats {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return lstatSync(folder)
  } catch {
    const message = 'The folder for leases of sandboxes cannot be made. Name another as workspace.leases.'
    throw new LandfallError('WORKSPACE_FAILED', message, { details: { folder } })
  }
}

function defaultFolder(): string {
  return join(tmpdir(), `landfall-sandboxes-${process.getuid?.() ?? 'user'}`)
}
