import { LandfallError } from '../../facts/errors.ts'
import { scriptedModel } from '../../models/scripted-model.ts'
import { curlLines } from '../../protocol/front-page.ts'
import { type CliContext, textArgument } from '../cli-context.ts'
import { chooseDemo } from '../demo/choose-demo.ts'
import { exitCodeOfStatus, exitCodes } from '../exit-codes.ts'
import { type OpenServer, openServer, portOf, type ServerChoice, usualPort } from '../open-server.ts'
import { modelOf } from '../open-session.ts'
import { untilInterrupted } from '../until-interrupted.ts'
import { watchTurn } from '../watch-turn.ts'
import { demo } from './demo.ts'

/**
 * A working system from nothing: a server on this folder and its store, and a first turn through it. It stays until it is
 * interrupted where somebody sits at the terminal; in a script it ends with the turn.
 */
export async function start(context: CliContext): Promise<number> {
  if (textArgument(context, 0) !== undefined) return demo(context)
  const { output } = context
  const stays = process.stdin.isTTY === true && context.options.once !== true
  const interrupted = untilInterrupted()
  const model = await modelOf(context.settings)
  const { script, question, settings, workspace, before, after } = await chooseDemo(context.settings, model !== null)
  const server = await listening(
    { ...context, settings },
    {
      model: model ?? scriptedModel(script),
      workspace,
      port: portOf(context) ?? usualPort,
    },
  )
  try {
    output.note(`Landfall listens on ${server.url}; open it in a browser, or try:`)
    for (const [why, line] of curlLines(server.url)) output.note(`\n  # ${why}\n  ${line}`)
    if (before !== null) output.note(`\n${before}`)
    output.note(`\nA first turn, through the server: ${question}`)
    const turn = await Promise.race([watchTurn(server.url, question, { settings, output }), interrupted])
    if (turn === undefined) return exitCodes.cancelled
    if (output.json) output.value({ url: server.url, ...turn })
    else if (turn.outcome?.message !== undefined && output.live !== process.stdout) output.line(turn.outcome.message)
    if (after !== null) output.note(after)
    output.note(`The log is in ${settings.db}. Check it with: npx landfall verify`)
    if (!stays) {
      output.note('It ends here, as nobody sits at a terminal or --once was given. To stay: npx landfall serve')
      return exitCodeOfStatus(turn.status ?? 'failed')
    }
    output.note(`Landfall goes on listening on ${server.url} until Ctrl-C.`)
    await interrupted
    output.note('closing; interrupt again to leave at once')
    return exitCodes.done
  } finally {
    await server.close()
  }
}

/** Where the usual port is taken and nobody asked for one, any other will do. */
async function listening(context: CliContext, choice: ServerChoice): Promise<OpenServer> {
  try {
    return await openServer(context, choice)
  } catch (error) {
    const taken = error instanceof LandfallError && error.code === 'ADDRESS_UNAVAILABLE'
    if (!taken || portOf(context) !== undefined) throw error
    return openServer(context, { ...choice, port: 0 })
  }
}
