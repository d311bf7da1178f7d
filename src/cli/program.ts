import { Command } from 'commander'
import type { CliCommand } from './cli-context.ts'
import { type CommandLine, commandTable } from './command-table.ts'
import { modelForms } from './model-spec.ts'
import { Output } from './output.ts'
import { type Flags, resolveSettings } from './settings.ts'

/** The whole command line. `done` hears the exit code of the command that ran. */
export function buildProgram(version: string, done: (code: number) => void): Command {
  const program = new Command('landfall')
    .description('Agent work as event-sourced statecharts: run turns, steer them, and read and verify their log.')
    .version(version, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .option('--db <file>', 'the store (default: ./landfall.db)')
    .option('--tenant <id>', 'whose sessions (default: local)')
    .option('--user <id>', 'whose sessions (default: local)')
    .option('--session <id>', 'which session (default: default)')
    .option('--model <model>', modelForms)
    .option('--tools <file>', 'a module whose default export is an array of tools')
    .option('--workspace <dir>', 'a folder that the session works on a copy of')
    .option('--isolation <how>', 'auto, bubblewrap, docker, or none: the folder is only read')
    .option('--image <name>', 'the image of the containers of --isolation docker')
    .option('--skills <dir>', 'folders of skills')
    .option('--system <file>', 'the system text')
    .option('--config <file>', 'JSON with these options, and budget, context, limits and settings')
    .option('--json', 'results as JSON on standard output, errors as JSON on standard error')
    .option('--quiet', 'no progress')
  for (const line of commandTable) define(program, line, done)
  return program
}

function define(program: Command, line: CommandLine, done: (code: number) => void): void {
  const command = program
    .command(line.usage, line.hidden === true ? { hidden: true } : {})
    .description(line.description)
  for (const [flags, description] of line.options ?? []) command.option(flags, description)
  command.action(async (...given: unknown[]) => {
    const settings = await resolveSettings(program.opts<Flags>(), process.env)
    const output = new Output(settings)
    const run: CliCommand = await line.load()
    done(await run({ settings, output, args: given.slice(0, -2), options: command.opts() }))
  })
}
