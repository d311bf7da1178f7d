import type { ElkExtendedEdge, ElkNode } from 'elkjs'
import { LandfallError } from '../facts/errors.ts'
import type { ChartGraph, GraphArrow, GraphState } from './chart-graph.ts'
import { lineLength, ruleText, type TextLine } from './rule-text.ts'

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface PlacedState extends Box {
  readonly id: string
  readonly name: string
  readonly type: GraphState['type']
  /** States with states inside are drawn behind these. */
  readonly isOuter: boolean
  /** A region beside others. */
  readonly isRegion: boolean
  readonly lines: readonly TextLine[]
  readonly edges: readonly string[]
}

export interface PlacedArrow {
  readonly source: string
  readonly target: string
  readonly edges: readonly string[]
  readonly points: readonly { readonly x: number; readonly y: number }[]
  readonly label: (Box & { readonly lines: readonly TextLine[] }) | null
}

/** A chart with a place for everything, in pixels from the upper left corner. States stand before those inside them. */
export interface ChartLayout {
  readonly width: number
  readonly height: number
  readonly states: readonly PlacedState[]
  readonly arrows: readonly PlacedArrow[]
  /** Dots from which the arrows into initial states begin. */
  readonly starts: readonly Box[]
}

/** Sizes of text in pixels. Nothing is measured: the font has fixed widths, so that every machine gives the same picture. */
export const textSize = { char: 7.25, line: 16, title: 8, titleLine: 20, pad: 10 } as const

const startSize = 10
const margin = 12

const options = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.padding': `[top=${margin},left=${margin},bottom=${margin},right=${margin}]`,
}

const spacing = {
  'elk.layered.spacing.nodeNodeBetweenLayers': '34',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.spacing.nodeNode': '24',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '12',
  'elk.spacing.edgeLabel': '4',
  'elk.spacing.componentComponent': '20',
  'elk.layered.edgeLabels.sideSelection': 'ALWAYS_DOWN',
}

/**
 * What a drawing may hold. An arrow costs a place in every layer that it passes, so that 600 of them may take half a
 * minute, and no option of elkjs makes that much cheaper; within these bounds all shapes that were measured took at most ten seconds.
 */
export const drawingBounds = { states: 600, arrows: 300 } as const

/** Finds a place for every state, arrow and label. elkjs is large and loaded only here. */
export async function layoutChart(graph: ChartGraph): Promise<ChartLayout> {
  checkSize(graph)
  const { default: Elk } = await import('elkjs/lib/elk.bundled.js')
  const elk = new Elk.default()
  const edges = [...graph.arrows.map(edgeOf), ...startEdges(graph.root)]
  const asked: ElkNode = { id: '', layoutOptions: { ...options, ...spacing }, children: [nodeOf(graph.root)], edges }
  const placed: ElkNode = await elk.layout(asked)
  const boxes = new Map(flat(placed).map((node) => [node.id, boxOf(node)]))
  return {
    width: Math.ceil(placed.width ?? 0),
    height: Math.ceil(placed.height ?? 0),
    states: statesOf(graph.root, boxes, false),
    arrows: (placed.edges ?? []).map((edge, at) => arrowOf(edge, graph.arrows[at])),
    starts: [...boxes].filter(([id]) => id.endsWith(startMark)).map(([, box]) => box),
  }
}

function checkSize({ root, arrows }: ChartGraph): void {
  const found = { states: countOf(root), arrows: arrows.length }
  for (const which of ['states', 'arrows'] as const) {
    const [got, bound] = [found[which], drawingBounds[which]]
    if (got <= bound) continue
    throw new LandfallError(
      'LIMIT_EXCEEDED',
      `The chart is too large to be drawn: it has ${got} ${which}, and a drawing holds ${bound}. Its Mermaid and its JSON have no such bound (--format mermaid, --format json).`,
      { details: { which: `drawing.${which}`, bound, got } },
    )
  }
}

function countOf(root: GraphState): number {
  let count = 0
  const open = [root]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    count += 1
    open.push(...state.children)
  }
  return count
}

const startMark = ' (start)'

function nodeOf(state: GraphState): ElkNode {
  const { width, height } = headSize(state)
  if (state.children.length === 0) return { id: state.id, width, height }
  const { pad } = textSize
  const starts = startOf(state) === null ? [] : [{ id: `${state.id}${startMark}`, width: startSize, height: startSize }]
  return {
    id: state.id,
    children: [...starts, ...state.children.map(nodeOf)],
    layoutOptions: {
      ...spacing,
      'elk.padding': `[top=${height + pad},left=${pad + 4},bottom=${pad + 4},right=${pad + 4}]`,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${width},${height})`,
    },
  }
}

/** The name of a state and what it does without being left. */
function headSize(state: GraphState): { readonly width: number; readonly height: number } {
  const { char, line, title, titleLine, pad } = textSize
  const lines = state.rules.flatMap(ruleText)
  const widest = Math.max(state.name.length * title, ...lines.map((each) => lineLength(each) * char), 40)
  return {
    width: Math.ceil(widest + 2 * pad),
    height: titleLine + 8 + (lines.length === 0 ? 0 : lines.length * line + 4),
  }
}

function startOf(state: GraphState): GraphState | null {
  return state.children.find(({ initial }) => initial) ?? null
}

function startEdges(state: GraphState): readonly ElkExtendedEdge[] {
  const first = startOf(state)
  const id = `${state.id}${startMark}`
  const own = first === null ? [] : [{ id: `${id} ${first.id}`, sources: [id], targets: [first.id] }]
  return [...own, ...state.children.flatMap(startEdges)]
}

function edgeOf(arrow: GraphArrow): ElkExtendedEdge {
  const lines = arrow.rules.flatMap(ruleText)
  const { char, line } = textSize
  const width = Math.ceil(Math.max(...lines.map((each) => lineLength(each) * char)) + 6)
  const id = `${arrow.source} ${arrow.target}`
  return {
    id,
    sources: [arrow.source],
    targets: [arrow.target],
    labels: [{ id: `${id} label`, text: id, width, height: lines.length * line + 4 }],
  }
}

function arrowOf(edge: ElkExtendedEdge, arrow: GraphArrow | undefined): PlacedArrow {
  const [section] = edge.sections ?? []
  const points =
    section === undefined ? [] : [section.startPoint, ...(section.bendPoints ?? []), section.endPoint].map(pointOf)
  const [label] = edge.labels ?? []
  return {
    source: arrow?.source ?? '',
    target: arrow?.target ?? '',
    edges: (arrow?.rules ?? []).flatMap(({ edges }) => edges),
    points,
    label:
      label === undefined || arrow === undefined ? null : { ...boxOf(label), lines: arrow.rules.flatMap(ruleText) },
  }
}

function statesOf(state: GraphState, boxes: ReadonlyMap<string, Box>, isRegion: boolean): readonly PlacedState[] {
  const { id, name, type, rules, children } = state
  const box = boxes.get(id) ?? { x: 0, y: 0, width: 0, height: 0 }
  const lines = rules.flatMap(ruleText)
  const edges = rules.flatMap((rule) => rule.edges)
  return [
    { ...box, id, name, type, isOuter: children.length > 0, isRegion, lines, edges },
    ...children.flatMap((child) => statesOf(child, boxes, type === 'parallel')),
  ]
}

function flat(node: ElkNode): readonly ElkNode[] {
  return (node.children ?? []).flatMap((child) => [child, ...flat(child)])
}

function boxOf({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box {
  return { x: rounded(x), y: rounded(y), width: rounded(width), height: rounded(height) }
}

function pointOf({ x, y }: { x: number; y: number }): { x: number; y: number } {
  return { x: rounded(x), y: rounded(y) }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
