import { LandfallError } from '../facts/errors.ts'
import { type Limits, limits } from '../facts/limits.ts'
import { bubblewrapSandbox, sweepBubblewrap } from './bubblewrap.ts'
import { dockerSandbox, sweepDocker } from './docker.ts'
import { Leases } from './leases.ts'
import { realRoot } from './local-workspace.ts'
import type { Sandbox, SandboxReport } from './sandbox.ts'
import type { Isolation } from './workspace.ts'

export interface WorkspaceOptions {
  /** The folder that the workspace begins as a copy of. It is only read. */
  readonly from: string
  /** `auto`: bubblewrap where it works, else Docker, else the folder is only read. */
  readonly isolation?: Isolation | 'auto'
  /** Names of files and folders that are not copied; absent: `node_modules`. Git metadata never is. */
  readonly exclude?: readonly string[]
  /** For Docker: an image with a shell, tar, and what the programs need. */
  readonly image?: string
  /** For Docker; absent: what DOCKER_HOST says, or the usual socket. */
  readonly socketPath?: string
  /** Where leases of sandboxes are kept; absent: below the system's folder for temporary files. */
  readonly leases?: string
}

type Where = Pick<WorkspaceOptions, 'image' | 'socketPath' | 'leases'>

const names = ['from', 'isolation', 'exclude', 'image', 'socketPath', 'leases']
const isolations = ['auto', 'bubblewrap', 'docker', 'none']

export function checkedOptions(options: WorkspaceOptions): WorkspaceOptions {
  const invalid = (field: string, why: string) =>
    new LandfallError('INVALID_INPUT', `workspace.${field} ${why}.`, { details: { field: `workspace.${field}` } })
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new LandfallError('INVALID_INPUT', 'workspace is an object, like { from: "." }.', {
      details: { field: 'workspace' },
    })
  const { from, isolation = 'auto', exclude = [] } = options
  for (const name of Object.keys(options))
    if (!names.includes(name)) throw invalid(name, `is no option; known: ${names.join(', ')}`)
  if (typeof from !== 'string' || from === '') throw invalid('from', 'names the folder to copy')
  if (!isolations.includes(isolation)) throw invalid('isolation', `is one of ${isolations.join(', ')}`)
  if (!Array.isArray(exclude) || exclude.some((name) => typeof name !== 'string'))
    throw invalid('exclude', 'is a list of names')
  for (const name of ['image', 'socketPath', 'leases'] as const)
    if (options[name] !== undefined && (typeof options[name] !== 'string' || options[name] === ''))
      throw invalid(name, 'is a text')
  return { ...options, from: realRoot(from) }
}

/** What a driver says of itself on this machine, after it has run a program. */
export async function sandboxReport(isolation: 'bubblewrap' | 'docker', where: Where = {}): Promise<SandboxReport> {
  const [bubblewrap, docker] = sandboxes(where, limits)
  return (isolation === 'docker' ? docker : bubblewrap).report()
}

/** The driver to use; null: there is none, or none is wanted. */
export async function openSandbox(options: WorkspaceOptions, bounds: Limits): Promise<Sandbox | null> {
  const { isolation = 'auto' } = options
  if (isolation === 'none') return null
  for (const sandbox of sandboxes(options, bounds)) {
    if (isolation !== 'auto' && sandbox.isolation !== isolation) continue
    const report = await sandbox.report()
    if (report.works) return sandbox
    if (isolation === 'auto') continue
    const message = `The isolation ${isolation} does not work here: ${report.detail}`
    throw new LandfallError('WORKSPACE_FAILED', message, { details: { isolation } })
  }
  return null
}

/** Ends and removes what lost processes of this host have left; gives how much that was. */
export async function sweepSandboxes({ leases, socketPath }: Where = {}): Promise<number> {
  return new Leases(leases).sweep((record, takenMs) =>
    record.isolation === 'docker' ? sweepDocker(record, takenMs, socketPath) : sweepBubblewrap(record),
  )
}

function sandboxes(where: Where, bounds: Limits): readonly [Sandbox, Sandbox] {
  const leases = new Leases(where.leases)
  const { image, socketPath } = where
  const docker = { ...(image === undefined ? {} : { image }), ...(socketPath === undefined ? {} : { socketPath }) }
  return [bubblewrapSandbox({ bounds, leases }), dockerSandbox({ bounds, leases, ...docker })]
}
