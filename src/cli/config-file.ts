import type { RuntimeOptions } from '../runtime/options.ts'

/** Global flags with a value, as commander names them; each has an environment variable `LANDFALL_<NAME>`. */
export type FlagName =
  | 'db'
  | 'tenant'
  | 'user'
  | 'session'
  | 'model'
  | 'tools'
  | 'workspace'
  | 'isolation'
  | 'image'
  | 'skills'
  | 'system'
export type HostSettings = Pick<RuntimeOptions, 'budget' | 'context' | 'limits' | 'settings' | 'requestTimeoutMs'>

/** What a config file may hold: the flags by name, what has no flag, and nothing else. */
export type ConfigFile = { readonly [K in FlagName]?: string | undefined } & {
  readonly json?: boolean | undefined
  readonly quiet?: boolean | undefined
  readonly maxStoreBytes?: number | undefined
  readonly host: HostSettings
}
