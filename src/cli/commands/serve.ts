import type { Logger } from '../../facts/ports.ts'
import { systemClock } from '../../facts/system-ports.ts'
import { scriptedModel } from '../../models/scripted-model.ts'
import type { Identify } from '../../protocol/identity.ts'
import type { CliContext } from '../cli-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { openServer, optionOrVariable, portOf, usualPort } from '../open-server.ts'
import { modelOf } from '../open-session.ts'
import { untilInterrupted } from '../until-interrupted.ts'
import { usageError } from '../usage-error.ts'

/** Says what is missing to whoever starts a turn; everything else works without a model. */
const silent = { name: 'none', everyTurn: [{ text: 'This server was started without a model. You said: {{input}}' }] }

/** Serves the store until it is interrupted, then ends in good order. */
export async function serve(context: CliContext): Promise<number> {
  const { output, settings } = context
  const identity = await identityOf(context)
  const model = await modelOf(settings)
  const log = await loggerOf(context)
  // With lines for a program, what is said to people is a line too, so that every line can be read alike.
  const note = (text: string) => (log.logger === undefined ? output.note(text) : log.logger.info({}, text))
  const interrupted = untilInterrupted()
  const server = await openServer(context, {
    model: model ?? scriptedModel(silent),
    port: portOf(context) ?? usualPort,
    ...(identity === undefined ? {} : { identity }),
    ...log,
  })
  output.result({ url: server.url, db: settings.db }, () => [`Landfall listens on ${server.url}`])
  if (model === null) note('No model is named: turns are answered by a script that says so.')
  note(
    identity === undefined
      ? 'There is no key: whoever is on this machine is who the headers X-Landfall-Tenant and X-Landfall-User say (local and local).'
      : 'Every request needs a bearer token that the keys verify.',
  )
  await interrupted
  note('closing; interrupt again to leave at once')
  await server.close()
  return exitCodes.done
}

const levels = ['debug', 'info', 'warn', 'error'] as const

/** Lines about what happens, where `--log` or `LANDFALL_LOG` names a level. */
async function loggerOf(context: CliContext): Promise<{ logger?: Logger }> {
  const given = optionOrVariable(context, 'log')
  if (given === undefined) return {}
  const level = levels.find((each) => each === given)
  if (level === undefined) throw usageError(`--log takes one of ${levels.join(', ')}.`)
  const { pinoLogger } = await import('../../telemetry/pino-logger.ts')
  return { logger: pinoLogger({ level }) }
}

async function identityOf(context: CliContext): Promise<Identify | undefined> {
  const place = optionOrVariable(context, 'jwks')
  if (place === undefined) return undefined
  const [{ jwtIdentity }, { loadKeySet }] = await Promise.all([
    import('../../protocol/jwt-identity.ts'),
    import('../../protocol/key-set.ts'),
  ])
  const issuer = optionOrVariable(context, 'issuer')
  const audience = optionOrVariable(context, 'audience')
  return jwtIdentity({
    keys: await loadKeySet(place),
    clock: systemClock,
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
  })
}
