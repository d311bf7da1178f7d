import { CommanderError } from 'commander'
import { isLandfallError, LandfallError } from '../facts/errors.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import { Output } from './output.ts'
import { buildProgram } from './program.ts'

/** Runs one command line and gives its exit code. Whatever goes wrong is one error, printed here. */
export async function runCli(words: readonly string[], version: string): Promise<number> {
  // A reader that has seen enough, such as `head`, ends the command; that is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.done)
    const cause = error.code ?? 'unknown'
    process.stderr.write(`OUTPUT_FAILED: The result cannot be written. Make room, or send it elsewhere. (${cause})\n`)
    process.exit(exitCodes.failed)
  })
  let code: number = exitCodes.done
  const program = buildProgram(version, (result) => {
    code = result
  })
  try {
    if (words.length === 0) {
      process.stderr.write(program.helpInformation())
      return exitCodes.usage
    }
    await program.parseAsync(words, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done
    const known = asKnown(error)
    // The flags may be what is wrong, so they cannot be asked how to say so.
    const json = words.includes('--json') || ['1', 'true'].includes(process.env.LANDFALL_JSON ?? '')
    new Output({ json, quiet: false }).error(known)
    return exitCodeOf(known)
  }
}

function asKnown(error: unknown): unknown {
  if (!(error instanceof CommanderError) || isLandfallError(error)) return error
  const sentence = error.message.replace(/^error: /, '').replaceAll('\n', ' ')
  return new LandfallError('USAGE', `${sentence}. See landfall --help.`.replace('..', '.'))
}
