import { parseArguments, runBench, UsageError } from './run-bench.ts'

const usageExit = 2

try {
  const options = parseArguments(process.argv.slice(2))
  const { report, failed } = await runBench(options, (name) => process.stderr.write(`${name} ...\n`))
  process.stdout.write(report)
  process.exitCode = failed ? 1 : 0
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = usageExit
}
