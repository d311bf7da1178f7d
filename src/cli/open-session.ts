import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { ownCapabilities } from '../capabilities/capability-provider.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Log } from '../facts/log-port.ts'
import type { Model } from '../facts/ports.ts'
import type { Scope } from '../facts/scope.ts'
import { sqliteLog } from '../log/sqlite/sqlite-log.ts'
import { loadNewest } from '../runtime/load-world.ts'
import { openRuntime, type Runtime } from '../runtime/open-runtime.ts'
import type { RuntimeOptions } from '../runtime/options.ts'
import type { Session } from '../runtime/session.ts'
import type { WorkspaceOptions } from '../workspace/open-workspace.ts'
import { type CliContext, scopeOf } from './cli-context.ts'
import { modelForms, modelSpecOf } from './model-spec.ts'
import { sessionStore } from './session-store.ts'
import type { Settings } from './settings.ts'
import { noStore } from './store-reader.ts'
import { usageError } from './usage-error.ts'

export interface OpenSession {
  readonly runtime: Runtime
  readonly session: Session
  readonly scope: Scope
  /** A model was named and the session is owned here: its work goes on only as long as this process does. */
  worksHere(): boolean
  /** Carries the session's work on here, when its owner is gone. */
  takeOver(): Promise<void>
  /** The value, unless the store fails first. */
  safely<T>(value: Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface OpenOptions {
  /** Given by the command itself instead of `--model`. */
  readonly model?: Model
  readonly workspace?: string
  /** The store must be there, and a session that has no work needs no model. */
  readonly existing?: boolean
  /** The store is made when it is not there, and nothing that the command does asks a model. */
  readonly modelless?: boolean
  /** A turn that a lost owner left is not begun again by a command that would only be told that the session is busy. */
  readonly idle?: boolean
}

/** Opens the store for writing, with a runtime that works on the one session of the command. */
export async function openSession(context: CliContext, options: OpenOptions = {}): Promise<OpenSession> {
  const { settings } = context
  const scope = scopeOf(settings)
  const model = options.model ?? (await modelOf(settings))
  if (model === null && options.existing !== true && options.modelless !== true)
    throw usageError(`Name a model: --model ${modelForms}.`)
  if (options.existing === true && !existsSync(settings.db)) throw noStore(settings.db)
  const hosted = await hostOptions(settings, options.workspace ?? settings.workspace)
  const { maxStoreBytes } = settings
  const log = sqliteLog(settings.db, maxStoreBytes === undefined ? {} : { maxBytes: maxStoreBytes })
  const store = sessionStore(log, scope, async () => {
    if (model === null) await refuseWork(log, scope)
    else if (options.idle === true) await refuseActive(log, scope)
  })
  try {
    // Where nothing works, no server is started for it.
    const catalog = model === null ? ownCapabilities(hosted.catalog ?? []) : (hosted.catalog ?? [])
    const wanted = { ...hosted, catalog, log: store.log, model: model ?? absentModel }
    const runtime = await openRuntime(wanted)
    const runtimes = [runtime]
    return {
      runtime,
      session: runtime.session(scope),
      scope,
      worksHere: () => model !== null && store.owns(),
      takeOver: async () => {
        if (model !== null && (await store.isOrphaned())) runtimes.push(await openRuntime(wanted))
      },
      safely: (value) => Promise.race([value, store.failed]),
      close: () => closeAll(runtimes, log, store.failed),
    }
  } catch (error) {
    await log.close()
    throw error
  }
}

/** A store that takes nothing any more must not hide why the command failed. */
async function closeAll(runtimes: readonly Runtime[], log: Log, failed: Promise<never>): Promise<void> {
  try {
    // Results that cannot be recorded are not waited for; the next owner finds the turn as after a crash.
    for (const runtime of runtimes) await Promise.race([runtime.close(), failed])
  } catch (error) {
    if (!(error instanceof LandfallError)) throw error
  } finally {
    await log.close()
  }
}

export async function modelOf({ model }: Settings): Promise<Model | null> {
  if (model === undefined) return null
  return (await import('./load-model.ts')).loadModel(modelSpecOf(model), model, process.env)
}

/** Stands where nothing is ever asked: without a model a session with work is not opened. */
export const absentModel: Model = {
  name: 'none',
  async *request() {
    yield* []
    throw new LandfallError('INTERNAL', 'A request was made without a model. Report this as a bug.')
  },
}

/** Who opens a session carries its work on. Without a model that work would fail, so it is left alone. */
async function refuseWork(log: Log, scope: Scope): Promise<void> {
  const { world } = await loadNewest(log, scope)
  if (world.tasks.size === 0) return
  throw usageError(
    `The session has work, which the process that opens it carries on. Name its model: --model ${modelForms}.`,
  )
}

async function refuseActive(log: Log, scope: Scope): Promise<void> {
  const { world } = await loadNewest(log, scope)
  const task = world.session?.context.active ?? null
  if (task === null) return
  const message = 'A turn that another process left is not finished. Go on with it by landfall follow-up, or cancel it.'
  throw new LandfallError('SESSION_BUSY', message, {
    details: { task, accepted: ['follow-up', 'supersede', 'cancel'] },
  })
}

export async function hostOptions(
  settings: Settings,
  folder: string | undefined,
): Promise<Omit<RuntimeOptions, 'log'>> {
  const { tools: file, skills: place, system, host } = settings
  const tools = file === undefined ? [] : await (await import('./load-tools.ts')).loadTools(file)
  const skills = place === undefined ? [] : (await import('../capabilities/skill-folder.ts')).skillsFrom(place)
  return {
    ...host,
    catalog: [...tools, ...skills],
    ...(folder === undefined ? {} : { workspace: { from: folder, ...isolationOf(settings) } }),
    ...(system === undefined ? {} : { system: await systemText(system) }),
  }
}

function isolationOf({ isolation, image, exclude }: Settings): Omit<WorkspaceOptions, 'from'> {
  return {
    ...(isolation === undefined ? {} : { isolation }),
    ...(image === undefined ? {} : { image }),
    ...(exclude === undefined ? {} : { exclude }),
  }
}

async function systemText(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trimEnd()
  } catch (cause) {
    throw new LandfallError('INVALID_INPUT', 'The system text cannot be read. Name an existing file.', {
      details: { file },
      cause,
    })
  }
}
