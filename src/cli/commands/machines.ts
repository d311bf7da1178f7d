import { callMachine } from '../../../machines/call.machine.ts'
import { sessionMachine } from '../../../machines/session.machine.ts'
import { taskMachine } from '../../../machines/task.machine.ts'
import { chartJson } from '../../inspector/chart-json.ts'
import { mermaidOf } from '../../inspector/mermaid.ts'
import { type CliContext, textArgument, textOption } from '../cli-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { unsupported, usageError } from '../usage-error.ts'

const charts = { session: sessionMachine, task: taskMachine, call: callMachine } as const
type ChartName = keyof typeof charts

/** The charts that decide, drawn from the machines themselves. */
export async function machines(context: CliContext): Promise<number> {
  const { output } = context
  const name = textArgument(context, 0)
  if (context.options.open === true) throw unsupported('--open', 'Use --format mermaid.')
  const format = textOption(context, 'format') ?? (output.json ? 'json' : 'mermaid')
  if (format === 'svg') throw unsupported('--format svg', 'Use mermaid or json.')
  if (format !== 'mermaid' && format !== 'json') throw usageError('--format takes mermaid or json.')
  const names = namesOf(name)
  if (format === 'json') {
    const [only] = names
    const all = Object.fromEntries(names.map((each) => [each, chartJson(charts[each])]))
    const value = name === undefined || only === undefined ? all : all[only]
    if (output.json) output.value(value)
    else output.line(JSON.stringify(value, null, 2))
  } else for (const each of names) output.line(`%% ${each}\n${mermaidOf(charts[each])}`.trimEnd())
  return exitCodes.done
}

function namesOf(name: string | undefined): readonly ChartName[] {
  const all = Object.keys(charts) as readonly ChartName[]
  if (name === undefined) return all
  const found = all.filter((each) => each === name)
  if (found.length === 0) throw usageError(`The charts are ${all.join(', ')}.`)
  return found
}
