import { type CliContext, textOption } from '../cli-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { usageError } from '../usage-error.ts'

export async function bench(context: CliContext): Promise<number> {
  const { output, options } = context
  const { parseArguments, runBench, UsageError } = await import('../../bench/run-bench.ts')
  const names = (textOption(context, 'only') ?? '').split(',').filter((name) => name !== '')
  const words = [
    ...(options.quick === true ? ['--quick'] : []),
    ...(options.long === true ? ['--long'] : []),
    ...(output.json ? ['--json'] : []),
    ...names.flatMap((name) => ['--only', name]),
  ]
  try {
    const { report, failed } = await runBench(parseArguments(words), (name) => output.note(`${name} ...`))
    output.line(report.trimEnd())
    return failed ? exitCodes.failed : exitCodes.done
  } catch (error) {
    throw error instanceof UsageError ? usageError(`${error.message}.`) : error
  }
}
