import type { Limits } from '../facts/limits.ts'
import type { Tree } from './tree.ts'

/** One program on a copy of a tree. */
export interface SandboxRun {
  readonly tree: Tree
  readonly argv: readonly string[]
  /** Folder below the root of the tree, '' for the root. */
  readonly cwd: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface SandboxEnd {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** What the program left. */
  readonly tree: Tree
}

/** How one bound of a sandbox holds on a host: over all of its processes together, for each one, or not at all. */
export interface HeldBound {
  readonly bound: 'memory' | 'swapped memory' | 'number of processes' | 'processor time' | 'disk' | 'wall time'
  readonly holds: 'together' | 'each' | 'not'
  readonly by: string
}

export interface SandboxReport {
  readonly works: boolean
  /** What works, or why not and what to do about it. */
  readonly detail: string
  /** How each bound holds on this host; none where the driver does not work. */
  readonly bounds: readonly HeldBound[]
}

/**
 * The port of the isolation drivers. Promises, which the contract suite in `test/contract` checks with each: the program sees a
 * copy of the tree and nothing else of the host but its system programs, read only; no network; bounded memory, processes, time and disk. When `run` settles,
 * nothing of the sandbox runs any more; it rejects with the signal's reason after an abort, and gives no tree unless all is well.
 */
export interface Sandbox {
  readonly isolation: 'bubblewrap' | 'docker'
  report(): Promise<SandboxReport>
  run(run: SandboxRun): Promise<SandboxEnd>
}

export type SandboxBounds = Pick<
  Limits,
  | 'outputBytes'
  | 'pathChars'
  | 'processTimeoutMs'
  | 'sandboxMemoryBytes'
  | 'sandboxProcesses'
  | 'sandboxDiskBytes'
  | 'sandboxCpuMs'
  | 'workspaceFileBytes'
  | 'workspaceTreeBytes'
  | 'workspaceFiles'
>

/** What programs find in their environment, and nothing of the host's. */
export const sandboxEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/tmp',
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
}
