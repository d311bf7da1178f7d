import { createRequire } from 'node:module'
import type { Logger, Model } from '../facts/ports.ts'
import { consoleSite } from '../inspector/console-site.ts'
import { ownCharts } from '../inspector/own-charts.ts'
import { sqliteLog } from '../log/sqlite/sqlite-log.ts'
import { createServer } from '../protocol/create-server.ts'
import type { Identify } from '../protocol/identity.ts'
import { openRuntime, type Runtime } from '../runtime/open-runtime.ts'
import { telemetry } from '../telemetry/telemetry.ts'
import { type CliContext, textOption } from './cli-context.ts'
import { hostOptions } from './open-session.ts'
import { wholeNumber } from './whole-number.ts'

export const usualPort = 4_180

export interface OpenServer {
  readonly url: string
  /** Takes nothing new, records what is under way, lets go of every session and of the store. */
  close(): Promise<void>
}

export interface ServerChoice {
  readonly model: Model
  /** The folder that tools may read; absent: the one of the settings, if there is one. */
  readonly workspace?: string
  readonly identity?: Identify
  readonly port: number
  /** Lines about what happens, on standard error; absent: none. */
  readonly logger?: Logger
}

const { version } = createRequire(import.meta.url)('landfall/package.json') as { version: string }

/** A runtime on the store of the settings that works on every session of it, and a server in front. */
export async function openServer(context: CliContext, choice: ServerChoice): Promise<OpenServer> {
  const { settings } = context
  const hosted = await hostOptions(settings, choice.workspace ?? settings.workspace)
  const { maxStoreBytes } = settings
  const log = sqliteLog(settings.db, maxStoreBytes === undefined ? {} : { maxBytes: maxStoreBytes })
  let runtime: Runtime | null = null
  try {
    const told = choice.logger === undefined ? {} : { logger: choice.logger }
    runtime = await openRuntime({ ...hosted, log, model: choice.model, ...told })
    const { identity, logger } = choice
    const watching = await telemetry(runtime, logger === undefined ? {} : { logger })
    const server = createServer(runtime, {
      ownsRuntime: true,
      machines: ownCharts,
      site: consoleSite(),
      version,
      metrics: watching.metrics,
      onRequest: watching.onRequest,
      ...(identity === undefined ? {} : { identity }),
    })
    const host = optionOrVariable(context, 'host')
    const url = await server.listen({ port: choice.port, ...(host === undefined ? {} : { host }) })
    return {
      url,
      close: async () => {
        await server.close()
        await watching.close()
        await log.close()
      },
    }
  } catch (error) {
    await runtime?.close()
    await log.close()
    throw error
  }
}

/** A flag, then its variable. */
export function optionOrVariable(context: CliContext, name: string): string | undefined {
  const variable = process.env[`LANDFALL_${name.toUpperCase()}`]
  return textOption(context, name) ?? (variable === '' ? undefined : variable)
}

export function portOf(context: CliContext): number | undefined {
  return wholeNumber('--port', optionOrVariable(context, 'port'))
}
