import { LandfallError } from '../facts/errors.ts'
import type { Workspace } from './workspace.ts'

/*
 * Owns: which workspace objects were made by a reviewed driver of ours, and what their properties were then.
 * 1. Only what is exactly as it was reviewed counts: the very object, its prototype, each property, and none more.
 * 2. The effect is performed through the reviewed reference, never through what a property holds at that moment.
 * 3. What is derived from an attested workspace by a function of this module is attested again; nothing else is.
 *
 * This keeps mistakes and objects from elsewhere away from effects. It assumes that the host's own code is trusted: code that
 * runs in this process can do anything that the process can, whatever is checked here.
 */
interface Reviewed {
  readonly workspace: Workspace
  readonly prototype: object | null
  readonly properties: ReadonlyMap<PropertyKey, unknown>
}

const reviews = new WeakMap<object, Reviewed>()

/** Called by the drivers, for objects that they have just made. */
export function attest<T extends Workspace>(workspace: T): T {
  const properties = new Map<PropertyKey, unknown>()
  for (const key of Reflect.ownKeys(workspace))
    properties.set(key, Reflect.getOwnPropertyDescriptor(workspace, key)?.value)
  reviews.set(workspace, {
    workspace: { ...workspace },
    prototype: Reflect.getPrototypeOf(workspace),
    properties,
  })
  return workspace
}

export function isAttested(workspace: Workspace): boolean {
  const reviewed = reviews.get(workspace)
  if (reviewed === undefined || Reflect.getPrototypeOf(workspace) !== reviewed.prototype) return false
  const keys = Reflect.ownKeys(workspace)
  if (keys.length !== reviewed.properties.size) return false
  return keys.every((key) => {
    const found = Reflect.getOwnPropertyDescriptor(workspace, key)
    return found !== undefined && 'value' in found && found.value === reviewed.properties.get(key)
  })
}

/** The reviewed methods, directly before an effect; `WORKSPACE_ISOLATION_REQUIRED` for anything that is not attested. */
export function attestedMethods(workspace: Workspace): Pick<Workspace, 'write' | 'exec'> {
  const reviewed = isAttested(workspace) ? reviews.get(workspace) : undefined
  if (reviewed === undefined) throw isolationRequired()
  return reviewed.workspace
}

export function isolationRequired(): LandfallError {
  const message =
    'Files are written and programs run only in an isolated workspace. Open one with isolation auto, bubblewrap or docker; landfall doctor says what works here.'
  return new LandfallError('WORKSPACE_ISOLATION_REQUIRED', message)
}

/** The same workspace for as long as the signal is not aborted. */
export function bindWorkspace(workspace: Workspace, life: AbortSignal): Workspace {
  const { write, exec } = attestedMethods(workspace)
  const { isolation, read, list, diff } = reviewedOf(workspace)
  const alive = async () => life.throwIfAborted()
  return attest({
    isolation,
    read: (path, range) => alive().then(() => read(path, range)),
    list: (path) => alive().then(() => list(path)),
    diff: () => alive().then(diff),
    write: (path, contents, { signal } = { signal: life }) =>
      alive().then(() => write(path, contents, { signal: AbortSignal.any([signal, life]) })),
    exec: (request, { signal }) => alive().then(() => exec(request, { signal: AbortSignal.any([signal, life]) })),
  })
}

/** The same workspace without what is not named. */
export function restrictWorkspace(workspace: Workspace, allowed: readonly ('write' | 'exec')[]): Workspace {
  const { write, exec } = attestedMethods(workspace)
  const { isolation, read, list, diff } = reviewedOf(workspace)
  const refuse = () => Promise.reject(restricted())
  return attest({
    isolation,
    read,
    list,
    diff,
    write: allowed.includes('write') ? write : refuse,
    exec: allowed.includes('exec') ? exec : refuse,
  })
}

function reviewedOf(workspace: Workspace): Workspace {
  const reviewed = reviews.get(workspace)
  if (reviewed === undefined) throw isolationRequired()
  return reviewed.workspace
}

function restricted(): LandfallError {
  return new LandfallError('WORKSPACE_RESTRICTED', 'This workspace was handed on without that. Use what it offers.')
}
