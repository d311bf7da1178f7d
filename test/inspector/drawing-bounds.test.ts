import { expect, it, vi } from 'vitest'
import { createMachine } from 'xstate'
import { chartGraph } from '../../src/inspector/chart-graph.ts'
import { chartJson } from '../../src/inspector/chart-json.ts'
import { drawingBounds, layoutChart } from '../../src/inspector/chart-layout.ts'
import { mermaidOf } from '../../src/inspector/mermaid.ts'

vi.setConfig({ testTimeout: 120_000 })

/** States of which so many lead to the first one. */
function chartOf(states: number, arrows: number) {
  const names = Array.from({ length: states }, (_, at) => `s${at}`)
  const all = names.map((name, at) => [name, at > 0 && at <= arrows ? { on: { BACK: 's0' } } : {}] as const)
  return createMachine({ id: 'm', initial: 's0', states: Object.fromEntries(all) })
}

// The chart itself is a state, too.
const most = drawingBounds.states - 1

it('draws a chart of as many states and arrows as a drawing holds', async () => {
  const { states, arrows } = await layoutChart(chartGraph(chartOf(most, drawingBounds.arrows)))
  expect(states).toHaveLength(drawingBounds.states)
  expect(arrows.filter(({ source }) => source !== '')).toHaveLength(drawingBounds.arrows)
})

it.each([
  ['states', chartOf(most + 1, 0), drawingBounds.states + 1],
  ['states', chartOf(3_000, 0), 3_001],
  ['arrows', chartOf(most, drawingBounds.arrows + 1), drawingBounds.arrows + 1],
] as const)('refuses one with more %s, and says what has no such bound', async (which, machine, got) => {
  const bound = drawingBounds[which]
  await expect(layoutChart(chartGraph(machine))).rejects.toMatchObject({
    code: 'LIMIT_EXCEEDED',
    message: expect.stringMatching(new RegExp(`${got} ${which}.*${bound}.*Mermaid`)),
    details: { which: `drawing.${which}`, bound, got },
  })
  expect(mermaidOf(machine)).toContain('as m_s1')
  expect(Object.keys(chartJson(machine).states ?? {})).toHaveLength(Object.keys(machine.states).length)
})
