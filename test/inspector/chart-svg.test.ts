import { describe, expect, it, vi } from 'vitest'
import type { AnyStateMachine } from 'xstate'
import { callMachine, sessionMachine, taskMachine } from '../../machines/public.ts'
import { chartEdges, chartNodes } from '../../src/inspector/chart-edges.ts'
import { chartGraph } from '../../src/inspector/chart-graph.ts'
import { type Box, type ChartLayout, layoutChart } from '../../src/inspector/chart-layout.ts'
import { chartStyle } from '../../src/inspector/chart-style.ts'
import { chartSvg } from '../../src/inspector/chart-svg.ts'
import { edgesIn } from '../../src/inspector/edge-list.ts'
import { doorMachine } from './door-chart.ts'

vi.setConfig({ testTimeout: 60_000 })

const charts: readonly AnyStateMachine[] = [sessionMachine, taskMachine, callMachine, doorMachine]
const layouts = new Map<string, ChartLayout>()
for (const machine of charts) layouts.set(machine.id, await layoutChart(chartGraph(machine)))

const layoutOf = (id: string) => layouts.get(id) as ChartLayout
const svgOf = (id: string, active: readonly string[] = []) =>
  chartSvg(layoutOf(id), { title: `The ${id} chart`, active })
const named = charts.map((machine) => [machine.id, machine] as const)

/** Tags that are not closed in the order in which they were opened; empty for well-formed text. */
function unclosed(xml: string): readonly string[] {
  const open: string[] = []
  for (const [, close, name = '', rest = ''] of xml.matchAll(/<(\/?)([\w-]+)((?:[^>"]|"[^"]*")*)>/g)) {
    if (close === '/') {
      if (open.pop() !== name) return [...open, name]
    } else if (!rest.endsWith('/')) open.push(name)
  }
  return open
}

function isInside(inner: Box, outer: Box): boolean {
  const fits = inner.x >= outer.x && inner.y >= outer.y
  return fits && inner.x + inner.width <= outer.x + outer.width && inner.y + inner.height <= outer.y + outer.height
}

function overlap(one: Box, other: Box): boolean {
  const apart = one.x + one.width <= other.x || other.x + other.width <= one.x
  return !apart && one.y < other.y + other.height && other.y < one.y + one.height
}

describe('a chart as SVG', () => {
  it.each(named)('of %s holds every state, event, guard and action', (id, machine) => {
    const svg = svgOf(id)
    expect(unclosed(svg)).toEqual([])
    const text = svg.replace(/<[^>]*>/g, ' ')
    for (const node of chartNodes(machine)) expect(svg).toContain(`data-state="${node.id}"`)
    const told = new Set([...svg.matchAll(/data-edges="([^"]*)"/g)].flatMap(([, ids = '']) => edgesIn(ids)))
    for (const edge of chartEdges(machine)) {
      expect(told).toContain(edge.id)
      if (edge.guard !== null) expect(text).toContain(`[${edge.guard}]`)
      for (const action of edge.actions.filter((name) => name !== 'fold')) expect(text).toContain(action)
    }
  })

  it.each(named)(
    'of %s puts states inside their parents, beside one another, and arrows where they belong',
    (id, machine) => {
      const { states, arrows, width, height } = layoutOf(id)
      const box = (of: string) => states.find((state) => state.id === of) as Box
      for (const node of chartNodes(machine)) {
        const outer = node.parent === undefined ? { x: 0, y: 0, width, height } : box(node.parent.id)
        expect(isInside(box(node.id), outer), node.id).toBe(true)
        const children = Object.values(node.states).map((child) => box(child.id))
        for (const [at, child] of children.entries())
          for (const other of children.slice(at + 1)) expect(overlap(child, other), node.id).toBe(false)
      }
      for (const { source, target, points } of arrows.filter((arrow) => arrow.source !== '')) {
        const touches = (of: string, at: { x: number; y: number } | undefined) =>
          at !== undefined && isInside({ ...at, width: 0, height: 0 }, grown(box(of)))
        expect(touches(source, points[0]), `${source} → ${target}`).toBe(true)
        expect(touches(target, points.at(-1)), `${source} → ${target}`).toBe(true)
      }
    },
  )

  it('is the same each time', async () => {
    expect(await layoutChart(chartGraph(doorMachine))).toEqual(layoutOf('door'))
    expect(svgOf('door')).toBe(svgOf('door'))
  })

  it('highlights active states, also in words', () => {
    const svg = svgOf('door', ['door', 'door.in', 'door.in.hall', 'door.in.hall.seated'])
    expect(svg.match(/<g class="state [^"]*active" data-state="([^"]*)"/g)).toHaveLength(4)
    expect(svg).toContain('<g class="state atomic active" data-state="door.in.hall.seated"')
    expect(svg).toContain('Active now: door.in.hall.seated.')
    expect(svgOf('door')).not.toContain('Active now')
  })

  it('says what it shows to those who do not see it', () => {
    expect(svgOf('door')).toMatch(/^<svg [^>]*role="img"[^>]*>\n<title>The door chart<\/title>\n<desc>States: /)
    expect(svgOf('door')).toContain('door.in leads to door.dead.')
  })

  it('follows the colours of the reader, or those that are asked for', () => {
    expect(svgOf('door')).toContain('@media (prefers-color-scheme:dark)')
    expect(svgOf('door')).not.toContain('<svg data-theme')
    expect(chartSvg(layoutOf('door'), { title: 'x', theme: 'dark' })).toContain('data-theme="dark"')
  })

  it('tells timers, invoked work, history, regions and ends', () => {
    const svg = svgOf('door')
    const text = svg.replace(/<[^>]*>/g, '')
    for (const words of [
      'after 500',
      'after patience',
      'loading done',
      'loading error',
      'invoke / load',
      'before (deep history)',
    ])
      expect(text).toContain(words)
    expect(text).toContain('TURN → itself')
    expect(text).toContain('RESET → out')
    expect(text).toContain('always [isKnown]')
    expect(svg).toContain('class="state compound region" data-state="door.in.rooms.left"')
    expect(svg).toMatch(/class="state final" data-state="door.dead"[^>]*><rect[^>]*><rect/)
  })

  it('is harmless whatever the names are', async () => {
    const { createMachine } = await import('xstate')
    const odd = createMachine({
      id: '<m>&"',
      initial: 'a"<b>',
      states: { 'a"<b>': { on: { '<GO>': { actions: '&' } } } },
    })
    const svg = chartSvg(await layoutChart(chartGraph(odd)), { title: '</title><script>' })
    expect(unclosed(svg)).toEqual([])
    expect(svg).not.toContain('<script>')
    expect(svg).toContain('&lt;GO&gt;')
    const bars = createMachine({ id: 'm', initial: 'a', states: { a: { on: { 'X|Y%7C': 'b', X: 'b' } }, b: {} } })
    const [, ids = ''] =
      /class="arrow"[^>]*data-edges="([^"]*)"/.exec(chartSvg(await layoutChart(chartGraph(bars)), { title: 'm' })) ?? []
    expect(edgesIn(ids)).toEqual(['m.a X|Y%7C', 'm.a X'])
    const unwritable = createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { on: { '\u0000\u001b\ud800\uffff\u{1f600}': {} } } },
    })
    const drawn = chartSvg(await layoutChart(chartGraph(unwritable)), { title: 'm' })
    expect(drawn).toContain('>\ufffd\ufffd\ufffd\ufffd\u{1f600}<')
  })
})

function grown({ x, y, width, height }: Box): Box {
  return { x: x - 1, y: y - 1, width: width + 2, height: height + 2 }
}

describe('the colours of a chart', () => {
  const [light, dark] = [...chartStyle.matchAll(/\{((?:--chart-[a-z]+:#[0-9a-f]{6};)+)/g)].map(
    ([, text = '']) =>
      new Map([...text.matchAll(/--chart-([a-z]+):(#[0-9a-f]{6})/g)].map(([, name, hex]) => [name, hex])),
  )

  it.each([
    ['light', light],
    ['dark', dark],
  ])('can be read in %s: every text on everything that may be behind it, every line on its ground', (_, colours) => {
    const contrast = (one: string, other: string) => {
      const [low = 0, high = 1] = [one, other].map((name) => luminance(colours?.get(name) ?? '')).sort((a, b) => a - b)
      return (high + 0.05) / (low + 0.05)
    }
    for (const ink of ['ink', 'event', 'guard', 'action'])
      for (const ground of ['ground', 'box', 'region', 'active'])
        expect(contrast(ink, ground), `${ink} on ${ground}`).toBeGreaterThanOrEqual(4.5)
    for (const mark of ['line', 'mark'])
      for (const ground of ['ground', 'box', 'region'])
        expect(contrast(mark, ground), `${mark} on ${ground}`).toBeGreaterThanOrEqual(3)
  })
})

/** As WCAG reckons it. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
