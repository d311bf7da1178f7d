#!/usr/bin/env node
import { createRequire } from 'node:module'

/** The package knows itself by its public name, wherever the built files are. */
const { version } = createRequire(import.meta.url)('landfall/package.json') as { version: string }
const words = process.argv.slice(2)

// Everything else is loaded when it is needed, so that this answers at once.
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) process.stdout.write(`${version}\n`)
else {
  const { runCli } = await import('./run-cli.ts')
  const code = await runCli(words, version)
  // What a tool left open must not keep a finished command alive; what was printed still gets out.
  process.stdout.write('', (failed) => {
    // Whoever hears of the failure says so, and ends the command.
    if (failed == null) process.stderr.write('', () => process.exit(code))
  })
}
