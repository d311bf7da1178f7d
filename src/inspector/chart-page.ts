import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isLandfallError, LandfallError } from '../facts/errors.ts'
import { defaultRedactor } from '../redaction/default-redactor.ts'
import { chartGraph } from './chart-graph.ts'
import { layoutChart } from './chart-layout.ts'
import { chartSvg } from './chart-svg.ts'
import { type PageChart, type PageData, pageDataId } from './page-data.ts'
import { simulationAnswer } from './simulation-answer.ts'
import type { ShownChart } from './simulator/own-charts.ts'

/** A page as one document with nothing to fetch, and the policy that keeps it so. */
export interface PageDocument {
  readonly html: string
  readonly policy: string
}

/** The page that shows these charts. Its script speaks to the server that sent it, and to nobody else. */
export async function chartPage(charts: readonly ShownChart[]): Promise<PageDocument> {
  const [script, style] = await Promise.all([built('chart-page.js'), built('chart-page.css')])
  const data: PageData = { charts: await Promise.all(charts.map(pageChart)) }
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Charts: ${escaped(charts.map(({ name }) => name).join(', '))}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="page"><noscript>This page needs JavaScript.</noscript></div>
<script type="application/json" id="${pageDataId}">${inScript(JSON.stringify(data))}</script>
<script type="module">${inScript(script)}</script>
</body>
</html>
`
  const hash = createHash('sha256').update(inScript(script)).digest('base64')
  return {
    html,
    policy: `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}

async function pageChart(chart: ShownChart): Promise<PageChart> {
  const { name, machine, input } = chart
  const { description: told } = machine.root
  const description = told === undefined ? null : defaultRedactor().text(told)
  const beginning = simulationAnswer(chart, { events: [] })
  return { name, drawing: await drawingOf(chart), description, input: input ?? null, beginning }
}

/** A chart that is too large for a drawing is tried out all the same. */
async function drawingOf({ name, machine }: ShownChart): Promise<PageChart['drawing']> {
  try {
    return { svg: chartSvg(await layoutChart(chartGraph(machine)), { title: `The ${name} chart` }) }
  } catch (error) {
    if (isLandfallError(error, 'LIMIT_EXCEEDED')) return { problem: error.message }
    throw error
  }
}

async function built(name: string): Promise<string> {
  try {
    return await readFile(new URL(`./browser/${name}`, import.meta.url), 'utf8')
  } catch (cause) {
    throw new LandfallError('INTERNAL', 'The page is not built. Run npm run build.', { details: { name }, cause })
  }
}

/** Nothing in a script may look like its end. */
function inScript(text: string): string {
  return text.replace(/<(?=\/script|!--)/gi, '\\u003c')
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (sign) => `&#${sign.codePointAt(0)};`)
}
