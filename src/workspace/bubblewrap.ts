import { type ChildProcess, spawn } from 'node:child_process'
import { release } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { systemClock, systemScheduler } from '../facts/system-ports.ts'
import { bubblewrapWords, descriptors, innerScript, outerScript } from './bubblewrap-words.ts'
import { type GroupPlaces, groupFolders, groupPlaces, joinGroups, makeGroups, removeGroups } from './control-groups.ts'
import { boundsByGroups } from './held-bounds.ts'
import { withoutInherited } from './inherited-descriptors.ts'
import type { Lease, LeaseRecord, Leases } from './leases.ts'
import { NamelessFile } from './nameless-file.ts'
import type { Sandbox, SandboxBounds, SandboxEnd, SandboxReport, SandboxRun } from './sandbox.ts'
import { SandboxArchive } from './sandbox-archive.ts'
import { type Ended, endedEarly, SandboxOutput, sandboxFailed } from './sandbox-output.ts'
import { tarOf } from './tar.ts'
import { emptyTree } from './tree.ts'

export interface BubblewrapOptions {
  readonly bounds: SandboxBounds
  readonly leases: Leases
  /** The program; absent: `bwrap` on the path of this process. */
  readonly program?: string
}

/** As whom bwrap is started; null: as this process. */
type Identity = { readonly uid: number; readonly gid: number } | null

/** A process of root without capabilities may still do what root owns, so root's sandboxes belong to nobody. */
const nobody: Identity = { uid: 65_534, gid: 65_534 }
const probeMs = 5_000

/**
 * Owns: sandboxes of user namespaces, each for one program.
 * 1. A sandbox is one process tree under an own first process: when that is gone, the kernel has ended all of them.
 * 2. It dies with this process; what a crash can leave are empty control groups, which the lease names.
 * 3. Its files are in memory of its own; the host never opens a file that the program has made.
 * 4. It has the descriptors named here and no other, whatever this process was started with.
 */
export function bubblewrapSandbox(options: BubblewrapOptions): Sandbox {
  const places = groupPlaces()
  let identity: Promise<Identity> | null = null
  const run = async (asked: SandboxRun): Promise<SandboxEnd> => {
    identity ??= workingIdentity(options, places)
    return runAs(options, places, { ...asked, identity: await identity })
  }
  return { isolation: 'bubblewrap', run, report: () => reportOf(options, places) }
}

export async function sweepBubblewrap(record: LeaseRecord): Promise<void> {
  await removeGroups(record.groups)
}

type Run = SandboxRun & { readonly identity: Identity }

async function runAs(options: BubblewrapOptions, places: GroupPlaces, run: Run): Promise<SandboxEnd> {
  const { bounds, leases } = options
  run.signal.throwIfAborted()
  const lease = leases.take((id) => ({
    isolation: 'bubblewrap',
    groups: [...groupFolders(places, id)],
    container: null,
  }))
  const groups = groupFolders(places, lease.id)
  try {
    makeGroups(places, lease.id, bounds)
    return await new BubblewrapRun(options, places, run).ended(groups)
  } finally {
    await removed(groups, lease)
  }
}

/** Groups that are still there stay in their lease, for the next sweep. */
async function removed(groups: readonly string[], lease: Lease): Promise<void> {
  try {
    await removeGroups(groups)
    lease.release()
  } catch {
    // Nothing runs in them any more, as far as this process can tell.
  }
}

class BubblewrapRun {
  readonly #options: BubblewrapOptions
  readonly #run: Run
  readonly #child: ChildProcess
  readonly #output: SandboxOutput
  readonly #archive: SandboxArchive
  readonly #info = new NamelessFile()
  #why: Ended | null = null

  constructor(options: BubblewrapOptions, places: GroupPlaces, run: Run) {
    const { bounds, program = 'bwrap' } = options
    this.#options = options
    this.#run = run
    const words = [program, ...bubblewrapWords(bounds), '/bin/sh', '-c']
    const inner = [innerScript(bounds, places.pids === null, run.cwd), 'sh', ...run.argv]
    const outer = outerScript(bounds, places.memory === null)
    this.#child = this.#started(['-c', outer, 'sh', ...words, ...inner])
    this.#output = new SandboxOutput(bounds.outputBytes, () => this.#end('flood'))
    this.#archive = new SandboxArchive(bounds, () => this.#end('archive'))
  }

  /** What cannot be started at all leaves no file open. */
  #started(words: readonly string[]): ChildProcess {
    const env = { PATH: process.env.PATH ?? '' }
    const stdio = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', this.#info.descriptor] as const
    try {
      return withoutInherited(stdio, (all) =>
        spawn('/bin/sh', words, { cwd: '/', detached: true, env, stdio: all, ...(this.#run.identity ?? {}) }),
      )
    } catch (error) {
      this.#info.close()
      throw error
    }
  }

  async ended(groups: readonly string[]): Promise<SandboxEnd> {
    const { signal, timeoutMs, tree } = this.#run
    const child = this.#child
    this.#output.follow(child.stdout, 'stdout')
    this.#output.follow(child.stderr, 'stderr')
    this.#answers(Buffer.concat([Buffer.from('\n'), tarOf(tree, Math.floor(systemClock.now() / 1_000))]))
    const closed = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve(code))
    })
    const stop = () => this.#end('abort')
    signal.addEventListener('abort', stop, { once: true })
    const cancelTimer = systemScheduler().at(systemClock.now() + timeoutMs, () => this.#end('timeout'))
    try {
      if (child.pid !== undefined) joinGroups(groups, child.pid)
      this.#writes(descriptors.go, Buffer.from('\n'))
      return this.#outcome(await closed)
    } catch (error) {
      this.#kill()
      throw error
    } finally {
      cancelTimer()
      signal.removeEventListener('abort', stop)
      this.#info.close()
    }
  }

  #outcome(code: number | null): SandboxEnd {
    const { outputBytes } = this.#options.bounds
    if (this.#why === 'abort') throw this.#run.signal.reason
    if (this.#why === 'timeout') throw endedEarly('timeout', this.#run.timeoutMs)
    if (this.#why === 'flood') throw endedEarly('flood', outputBytes)
    const said = this.#output.text('stderr')
    const { exitCode } = this.#archive
    if (exitCode === null)
      throw sandboxFailed(/^bwrap: /.test(said) ? (said.trim().split('\n')[0] ?? '') : 'it was ended from inside')
    const tree = this.#archive.tree()
    if (code !== 0) throw sandboxFailed('what the program left cannot be read')
    return { exitCode, stdout: this.#output.text('stdout'), stderr: said, tree }
  }

  #end(why: Ended): void {
    this.#why ??= why
    this.#kill()
  }

  /** The first process of the sandbox is gone only when all others are; bwrap outside ends after it. */
  #kill(): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const first = Number(/"child-pid": (\d+)/.exec(this.#info.text())?.[1] ?? 0)
    const { pid } = this.#child
    if (first > 1) signalTo(first)
    else if (pid !== undefined) signalTo(-pid)
  }

  /** The first byte says that the sandbox is there, and is answered with the tree; what follows is about its end. */
  #answers(tree: Buffer): void {
    let isThere = false
    this.#reads(descriptors.treeOut, (chunk) => {
      if (!isThere) this.#writes(descriptors.treeIn, tree)
      const told = isThere ? chunk : chunk.subarray(1)
      isThere = true
      if (told.length > 0) this.#archive.push(told)
    })
  }

  #reads(descriptor: number, take: (chunk: Buffer) => void): void {
    const stream = this.#child.stdio[descriptor] as Readable | undefined
    stream?.on('data', take)
    stream?.on('error', () => {})
  }

  #writes(descriptor: number, data: Buffer): void {
    const stream = this.#child.stdio[descriptor] as Writable | undefined
    // A sandbox that ends early does not read on, which its end tells better.
    stream?.on('error', () => {})
    stream?.end(data)
  }
}

function signalTo(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

async function tried(options: BubblewrapOptions, places: GroupPlaces, identity: Identity): Promise<string | null> {
  const signal = new AbortController().signal
  const run = { tree: emptyTree, argv: ['true'], cwd: '', timeoutMs: probeMs, signal, identity }
  try {
    const { exitCode } = await runAs(options, places, run)
    return exitCode === 0 ? null : `a first program ended with ${exitCode}`
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    return missing ? 'there is no /bin/sh' : error instanceof Error ? error.message : String(error)
  }
}

function identities(): readonly Identity[] {
  return process.getuid?.() === 0 ? [nobody, null] : [null]
}

async function workingIdentity(options: BubblewrapOptions, places: GroupPlaces): Promise<Identity> {
  for (const identity of identities()) if ((await tried(options, places, identity)) === null) return identity
  return null
}

async function reportOf(options: BubblewrapOptions, places: GroupPlaces): Promise<SandboxReport> {
  let problem = ''
  for (const identity of identities()) {
    const found = process.platform === 'linux' ? await tried(options, places, identity) : 'it needs Linux'
    if (found === null)
      return { works: true, detail: 'user namespaces without network', bounds: boundsByGroups(places, release()) }
    problem = found
  }
  const detail = `${problem} Install it with: apt-get install -y bubblewrap; user namespaces must be allowed.`
  return { works: false, detail, bounds: [] }
}
