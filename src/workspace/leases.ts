import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
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
const recordBytes = 64 * 1_024

/**
 * Owns: a folder with one file for each sandbox that was begun and is not known to be gone.
 * 1. The file is there before the sandbox is, and goes when the sandbox is gone; so a crash leaves the file.
 * 2. A file whose process is gone, judged by host, number and start like an owner of a session, is swept by whoever opens next.
 * 3. The folder belongs to this user alone; one that somebody else has made is not used.
 * 4. A file names only what was made under its own name; one that names anything else, or is no plain file, is not acted on.
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

  /** Removes what lost processes left, all at once, since one may be waited for; what cannot be removed now is tried again by the next sweep. */
  async sweep(remove: (record: LeaseRecord, takenMs: number) => Promise<void>): Promise<number> {
    const swept = readdirSync(this.folder).map(async (name) => {
      const file = join(this.folder, name)
      const lost = this.#lost(file)
      if (lost === null) return false
      try {
        if (lost.record !== null) await remove(lost.record, lost.takenMs)
        rmSync(file, { force: true })
        return true
      } catch {
        // Its daemon may be down; the file stays for the next sweep.
        return false
      }
    })
    return (await Promise.all(swept)).filter((is) => is).length
  }

  /** A lease that nobody holds any more; null for one that somebody does. */
  #lost(file: string): { readonly record: LeaseRecord | null; readonly takenMs: number } | null {
    try {
      const takenMs = lstatSync(file).mtimeMs
      const forgotten = systemClock.now() - takenMs > forgottenMs ? { record: null, takenMs } : null
      const record = recordIn(file)
      if (record === null || record.host !== this.#processes.host) return forgotten
      return this.#processes.startedAt(record.pid) === record.startedAt ? null : { record, takenMs }
    } catch {
      return null
    }
  }
}

/** null: it is no lease, whatever else it may be. Opening never waits, and what is read is bounded. */
function recordIn(file: string): LeaseRecord | null {
  const id = /^([0-9a-f]+)\.json$/.exec(basename(file))?.[1]
  if (id === undefined || !lstatSync(file).isFile()) return null
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const found = fstatSync(descriptor)
    if (!found.isFile() || found.size > recordBytes) return null
    return leaseNamed(id, readFileSync(descriptor, 'utf8'))
  } finally {
    closeSync(descriptor)
  }
}

function leaseNamed(id: string, text: string): LeaseRecord | null {
  const own = `landfall-${id}`
  try {
    const record = leaseFile.parse(JSON.parse(text))
    const isOwn = (record.container ?? own) === own && record.groups.every((folder) => basename(folder) === own)
    return isOwn ? record : null
  } catch {
    return null
  }
}

function madeFolder(folder: string): Stats {
  try {
    makeWithParents(folder)
    return lstatSync(folder)
  } catch {
    const message = 'The folder for leases of sandboxes cannot be made. Name another as workspace.leases.'
    throw new LandfallError('WORKSPACE_FAILED', message, { details: { folder } })
  }
}

/** One after the other: what makes all of them at once does not end below a folder that takes none, such as `/proc`. */
function makeWithParents(folder: string): void {
  const make = () => mkdirSync(folder, { mode: 0o700 })
  try {
    make()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(folder) === folder) throw error
    makeWithParents(dirname(folder))
    make()
  }
}

function defaultFolder(): string {
  return join(tmpdir(), `landfall-sandboxes-${process.getuid?.() ?? 'user'}`)
}
