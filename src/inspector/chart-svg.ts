import type { Box, ChartLayout, PlacedArrow, PlacedState } from './chart-layout.ts'
import { textSize } from './chart-layout.ts'
import { chartStyle } from './chart-style.ts'
import { edgeListText } from './edge-list.ts'
import { lineLength, type TextLine } from './rule-text.ts'

export interface SvgOptions {
  /** What is drawn, for those who do not see it. */
  readonly title: string
  /** Ids of the states to highlight. */
  readonly active?: readonly string[]
  /** Fixed colours; without it those of the reader's system. */
  readonly theme?: 'light' | 'dark'
}

/**
 * A laid out chart as SVG text, without anything from outside it. States carry `data-state` and arrows `data-edges`, so that a
 * page can mark them while it is shown: the class `active` is all that it takes.
 */
export function chartSvg(layout: ChartLayout, options: SvgOptions): string {
  const { width, height, states, arrows, starts } = layout
  const active = new Set(options.active ?? [])
  const theme = options.theme === undefined ? '' : ` data-theme="${options.theme}"`
  const outer = states.filter(({ isOuter }) => isOuter)
  const inner = states.filter(({ isOuter }) => !isOuter)
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" class="landfall-chart"${theme} role="img" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<title>${escaped(options.title)}</title>`,
    `<desc>${escaped(describe(layout, active))}</desc>`,
    `<style>${chartStyle}</style>`,
    '<defs><marker id="landfall-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>',
    ...outer.map((state) => stateSvg(state, active)),
    ...arrows.map(lineSvg),
    ...starts.map(
      (box) => `<circle class="start" cx="${middle(box.x, box.width)}" cy="${middle(box.y, box.height)}" r="5"/>`,
    ),
    ...outer.map(headSvg),
    ...inner.map((state) => stateSvg(state, active)),
    ...arrows.map(labelSvg).filter((text) => text !== ''),
    '</svg>',
  ].join('\n')}\n`
}

/** The chart in words. */
function describe({ states, arrows }: ChartLayout, active: ReadonlySet<string>): string {
  const leaves = states.filter(({ isOuter }) => !isOuter).map(({ id }) => id)
  const ways = new Map<string, Set<string>>()
  for (const { source, target } of arrows)
    if (source !== '') ways.set(source, (ways.get(source) ?? new Set()).add(target))
  const told = [...ways].map(([source, targets]) => `${source} leads to ${[...targets].join(', ')}.`)
  const now = leaves.filter((id) => active.has(id))
  return [
    `States: ${leaves.join(', ')}.`,
    ...(now.length === 0 ? [] : [`Active now: ${now.join(', ')}.`]),
    ...told,
  ].join(' ')
}

function stateSvg(state: PlacedState, active: ReadonlySet<string>): string {
  const { id, type, x, y, width, height, isOuter, isRegion } = state
  const classes = ['state', type, ...(isRegion ? ['region'] : []), ...(active.has(id) ? ['active'] : [])].join(' ')
  const border = (inset: number) =>
    `<rect x="${x + inset}" y="${y + inset}" width="${width - 2 * inset}" height="${height - 2 * inset}" rx="${isOuter ? 10 : 7}"/>`
  return [
    `<g class="${classes}" data-state="${escaped(id)}" data-edges="${escaped(edgeListText(state.edges))}">`,
    border(0),
    ...(type === 'final' ? [border(3)] : []),
    ...(isOuter ? [] : textsSvg(state)),
    '</g>',
  ].join('')
}

/** The words of a state with states inside stand before the arrows that cross it, on a plate that lets them be read. */
function headSvg(state: PlacedState): string {
  const { char, line, title, titleLine, pad } = textSize
  const { x, y, lines } = state
  const widest = Math.max(state.name.length * title, ...lines.map((each) => lineLength(each) * char))
  const height = titleLine + (lines.length === 0 ? 0 : lines.length * line)
  const plate = `<rect x="${x + pad - 3}" y="${y + 4}" width="${Math.ceil(widest) + 6}" height="${height}" rx="3"/>`
  return ['<g class="head">', plate, ...textsSvg(state), '</g>'].join('')
}

function textsSvg(state: PlacedState): readonly string[] {
  const { pad, titleLine, line: lineHeight } = textSize
  const { x, y, lines } = state
  return [
    `<text class="name" x="${x + pad}" y="${y + titleLine - 2}">${escaped(state.name)}</text>`,
    ...lines.map((line, at) => textSvg(line, x + pad, y + titleLine + 14 + at * lineHeight)),
  ]
}

/** Corners are rounded off, so that arrows that cross are not taken for one that turns. */
function lineSvg({ source, target, points, edges }: PlacedArrow): string {
  const [first, ...rest] = points
  if (first === undefined) return ''
  const path = [`M${first.x} ${first.y}`, ...rest.map((point, at) => bend(points, point, at + 1))].join('')
  return `<path class="arrow" data-source="${escaped(source)}" data-target="${escaped(target)}" data-edges="${escaped(edgeListText(edges))}" d="${path}" marker-end="url(#landfall-arrow)"/>`
}

type Point = PlacedArrow['points'][number]

function bend(points: readonly Point[], corner: Point, at: number): string {
  const before = points[at - 1]
  const after = points[at + 1]
  if (before === undefined || after === undefined) return `L${corner.x} ${corner.y}`
  const from = towards(corner, before)
  const to = towards(corner, after)
  return `L${from.x} ${from.y}Q${corner.x} ${corner.y} ${to.x} ${to.y}`
}

function towards(corner: Point, other: Point): Point {
  const distance = Math.hypot(other.x - corner.x, other.y - corner.y)
  const share = distance === 0 ? 0 : Math.min(6, distance / 2) / distance
  return { x: short(corner.x + (other.x - corner.x) * share), y: short(corner.y + (other.y - corner.y) * share) }
}

function labelSvg({ label, edges }: PlacedArrow): string {
  if (label === null) return ''
  const { x, y, width, height, lines } = label
  return [
    `<g class="label" data-edges="${escaped(edgeListText(edges))}">`,
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="3"/>`,
    ...lines.map((line, at) => textSvg(line, x + 3, y + 13 + at * textSize.line)),
    '</g>',
  ].join('')
}

function textSvg(line: TextLine, x: number, y: number): string {
  const parts = line.map(({ kind, text }) => `<tspan class="${kind}">${escaped(text)}</tspan>`).join('')
  return `<text x="${short(x)}" y="${short(y)}" xml:space="preserve">${parts}</text>`
}

function middle(from: Box['x'], size: number): number {
  return short(from + size / 2)
}

function short(value: number): number {
  return Math.round(value * 10) / 10
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** XML has no form at all for some signs: a picture that held one would not open. */
const unwritable = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

function escaped(text: string): string {
  return text.replace(unwritable, '\ufffd').replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)
}
