import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'
import { callMachine } from '../../../../machines/call.machine.ts'
import { sessionMachine } from '../../../../machines/session.machine.ts'
import { taskMachine } from '../../../../machines/task.machine.ts'
import { chartGraph } from '../../chart-graph.ts'
import { layoutChart } from '../../chart-layout.ts'
import { chartStyle } from '../../chart-style.ts'
import { chartSvg } from '../../chart-svg.ts'

const drawn = { session: sessionMachine, task: taskMachine, call: callMachine }
const chartsId = 'virtual:charts'

/**
 * The drawings of the charts, made when the page is built: the layouter is large, and the server has better things to do. Their
 * style goes into the style sheet, so that the page needs no style that is written inside a document.
 */
function charts(): Plugin {
  return {
    name: 'charts',
    resolveId: (id) => (id === chartsId || id === `${chartsId}.css` ? `\0${id}` : null),
    load: async (id) => {
      if (id === `\0${chartsId}.css`) return chartStyle
      if (id !== `\0${chartsId}`) return null
      const svgs = await Promise.all(
        Object.entries(drawn).map(async ([name, machine]) => {
          const svg = chartSvg(await layoutChart(chartGraph(machine)), { title: `The ${name} chart` })
          return [name, svg.replace(/<style>[^<]*<\/style>\n?/, '')] as const
        }),
      )
      return `export const charts = ${JSON.stringify(Object.fromEntries(svgs))}`
    },
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [charts()],
  build: {
    outDir: fileURLToPath(new URL('../../../../dist/src/inspector/console', import.meta.url)),
    emptyOutDir: true,
    modulePreload: false,
    assetsInlineLimit: 0,
    // Laying out the charts is what takes the time, and is meant to.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
})
