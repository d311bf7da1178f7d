import { dirname, resolve } from 'node:path'
import type { WorkspaceOptions } from '../workspace/open-workspace.ts'
import type { ConfigFile, FlagName, HostSettings } from './config-file.ts'
import { modelSpecOf } from './model-spec.ts'
import { unsupported, usageError } from './usage-error.ts'

export type Flags = { readonly [K in FlagName | 'config']?: string } & {
  readonly json?: boolean
  readonly quiet?: boolean
}

export interface Settings {
  readonly db: string
  readonly tenant: string
  readonly user: string
  readonly session: string
  /** Somebody named the session, instead of taking the one that is always there. */
  readonly sessionNamed: boolean
  readonly model?: string
  readonly tools?: string
  /** A folder with a folder for each skill. */
  readonly skills?: string
  readonly workspace?: string
  readonly isolation?: NonNullable<WorkspaceOptions['isolation']>
  readonly image?: string
  /** Names that are not copied into a workspace; no flag says so. */
  readonly exclude?: readonly string[]
  readonly system?: string
  readonly json: boolean
  readonly quiet: boolean
  readonly maxStoreBytes?: number
  readonly host: HostSettings
}

/** Names of files; what a config file says of them is meant from where that file is. */
const paths: ReadonlySet<FlagName> = new Set(['db', 'tools', 'skills', 'workspace', 'system'])
const scriptPrefix = 'script:'
const isolations = ['auto', 'bubblewrap', 'docker', 'none']

type Environment = Readonly<Record<string, string | undefined>>

/** Flags, then the environment, then the config file, then defaults. */
export async function resolveSettings(flags: Flags, environment: Environment): Promise<Settings> {
  const configFile = flags.config ?? present(environment.LANDFALL_CONFIG)
  const config = configFile === undefined ? null : await loadConfig(configFile)
  const value = (name: FlagName): string | undefined =>
    flags[name] ?? present(environment[`LANDFALL_${name.toUpperCase()}`]) ?? fromConfig(name, config, configFile)
  refuseUnsupported(value)
  const session = value('session')
  const optional = Object.fromEntries(
    (['model', 'tools', 'skills', 'workspace', 'isolation', 'image', 'system'] as const).flatMap((name) => {
      const given = value(name)
      return given === undefined ? [] : [[name, given]]
    }),
  )
  return {
    db: value('db') ?? './landfall.db',
    tenant: value('tenant') ?? 'local',
    user: value('user') ?? 'local',
    session: session ?? 'default',
    sessionNamed: session !== undefined,
    ...optional,
    json: flags.json ?? isSet(environment.LANDFALL_JSON) ?? config?.json ?? false,
    quiet: flags.quiet ?? isSet(environment.LANDFALL_QUIET) ?? config?.quiet ?? false,
    ...(config?.maxStoreBytes === undefined ? {} : { maxStoreBytes: config.maxStoreBytes }),
    host: config?.host ?? {},
  }
}

async function loadConfig(file: string): Promise<ConfigFile> {
  const { readConfig } = await import('./read-config.ts')
  return readConfig(file)
}

function fromConfig(name: FlagName, config: ConfigFile | null, file: string | undefined): string | undefined {
  const given = config?.[name]
  if (given === undefined || file === undefined) return given
  const folder = dirname(resolve(file))
  if (name === 'model' && given.startsWith(scriptPrefix))
    return scriptPrefix + resolve(folder, given.slice(scriptPrefix.length))
  return paths.has(name) && !/^postgres(ql)?:/.test(given) ? resolve(folder, given) : given
}

function refuseUnsupported(value: (name: FlagName) => string | undefined): void {
  if (/^postgres(ql)?:/.test(value('db') ?? '')) throw unsupported('Postgres', 'Give --db the name of a file.')
  const isolation = value('isolation')
  if (isolation !== undefined && !isolations.includes(isolation))
    throw usageError(`--isolation takes one of ${isolations.join(', ')}.`)
  const model = value('model')
  if (model !== undefined) modelSpecOf(model)
}

/** An empty variable is one that is not set. */
function present(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text
}

function isSet(text: string | undefined): boolean | undefined {
  const given = present(text)
  return given === undefined ? undefined : !['0', 'false', 'no'].includes(given.toLowerCase())
}
