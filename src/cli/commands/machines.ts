import { chartGraph } from '../../inspector/chart-graph.ts'
import { chartJson } from '../../inspector/chart-json.ts'
import { layoutChart } from '../../inspector/chart-layout.ts'
import { serveCharts } from '../../inspector/chart-server.ts'
import { chartSvg } from '../../inspector/chart-svg.ts'
import { mermaidOf } from '../../inspector/mermaid.ts'
import { ownCharts, type ShownChart } from '../../inspector/simulator/own-charts.ts'
import { type CliContext, choiceOption, textArgument } from '../cli-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { isChartFile, loadCharts } from '../load-chart.ts'
import { openBrowser } from '../open-browser.ts'
import type { Output } from '../output.ts'
import { stdoutAside } from '../stdout-aside.ts'
import { usageError } from '../usage-error.ts'

/** The charts that decide, or those of a module of the user, drawn from the machines themselves. */
export async function machines(context: CliContext): Promise<number> {
  const { output } = context
  const name = textArgument(context, 0)
  const format = choiceOption(context, 'format', ['mermaid', 'svg', 'json']) ?? (output.json ? 'json' : 'mermaid')
  const charts = await chartsOf(name)
  if (context.options.open === true) return open(output, charts)
  if (format === 'json') writeJson(output, charts, name !== undefined && charts.length === 1)
  else if (format === 'svg') await writeSvg(output, charts, name)
  else writeMermaid(output, charts)
  return exitCodes.done
}

/** Serves the page until the process is told to end. Guards and assignments may print whenever the page asks for a step. */
async function open(output: Output, charts: readonly ShownChart[]): Promise<number> {
  const restore = stdoutAside()
  const server = await serveCharts(charts).finally(restore)
  output.result({ address: server.address }, () => [server.address])
  output.note('Open this address in a browser; Ctrl-C ends it.')
  openBrowser(server.address)
  const restoreAtEnd = stdoutAside()
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  restoreAtEnd()
  await server.close()
  return exitCodes.done
}

async function chartsOf(name: string | undefined): Promise<readonly ShownChart[]> {
  if (name === undefined) return ownCharts
  if (isChartFile(name)) return loadCharts(name)
  const found = ownCharts.filter((chart) => chart.name === name)
  if (found.length === 0)
    throw usageError(
      `The charts are ${ownCharts.map((chart) => chart.name).join(', ')}; another one is named by its file.`,
    )
  return found
}

function writeJson(output: Output, charts: readonly ShownChart[], isOne: boolean): void {
  const all = Object.fromEntries(charts.map(({ name, machine }) => [name, chartJson(machine)]))
  const value = isOne ? Object.values(all)[0] : all
  if (output.json) output.value(value)
  else output.line(JSON.stringify(value, null, 2))
}

function writeMermaid(output: Output, charts: readonly ShownChart[]): void {
  const drawn = charts.map(({ name, machine }) => ({ name, text: mermaidOf(machine) }))
  if (output.json) output.value(Object.fromEntries(drawn.map(({ name, text }) => [name, text])))
  else for (const { name, text } of drawn) output.line(`%% ${oneLine(name)}\n${text}`.trimEnd())
}

/** A comment ends with its line, and a chart may have any name. */
function oneLine(name: string): string {
  return name.replace(/\p{Cc}|[\u2028\u2029]/gu, ' ')
}

/** One picture is one document, so several are not written one behind the other. */
async function writeSvg(output: Output, charts: readonly ShownChart[], file: string | undefined): Promise<void> {
  if (!output.json && charts.length > 1) {
    const names = charts.map(({ name }) => (file === undefined ? name : `${file}#${name}`))
    throw usageError(`A picture holds one chart. Name one of ${names.join(', ')}.`)
  }
  const drawn: Record<string, string> = {}
  for (const { name, machine } of charts)
    drawn[name] = chartSvg(await layoutChart(chartGraph(machine)), { title: `The ${name} chart` })
  if (output.json) output.value(drawn)
  else output.line((Object.values(drawn)[0] ?? '').trimEnd())
}
