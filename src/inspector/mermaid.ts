import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { actionName, type ChartEdge, chartEdges, childNodes } from './chart-edges.ts'

/** The bookkeeping action that every transition of these charts runs; it would say nothing in a picture. */
const unsaid = 'fold'
/** Events that are written side by side when nothing else tells them apart; more make boxes too wide. */
const eventsPerLine = 3

/**
 * A chart as Mermaid text (`stateDiagram-v2`), drawn from the machine's own state nodes. States are declared, nested as they are
 * in the chart, before any edge names them, because renderers otherwise show the raw id. What a state does without being left
 * stands inside it; what a state with children does so stands in a note beside it.
 */
export function mermaidOf(machine: AnyStateMachine): string {
  const edges = chartEdges(machine)
  const { root } = machine
  // Regions side by side need a state around them; a chart without regions needs no box around it.
  const body = root.type === 'parallel' ? declare(root, edges) : inside(root, edges)
  const notes = [root, ...descendants(root)].flatMap((node) => noteOf(node, edges))
  return `${['stateDiagram-v2', ...indent([...body, ...notes, ...arrows(edges)])].join('\n')}\n`
}

function descendants(node: AnyStateNode): readonly AnyStateNode[] {
  return childNodes(node).flatMap((child) => [child, ...descendants(child)])
}

function declare(node: AnyStateNode, edges: readonly ChartEdge[]): readonly string[] {
  const opening = `state "${plain(node.key)}" as ${idOf(node)}`
  if (childNodes(node).length > 0) return [`${opening} {`, ...indent(inside(node, edges)), '}']
  const ending = node.type === 'final' ? [`${idOf(node)} --> [*]`] : []
  return [opening, ...stays(node, edges).map((line) => `${idOf(node)} : ${line}`), ...ending]
}

function inside(node: AnyStateNode, edges: readonly ChartEdge[]): readonly string[] {
  if (node.type === 'parallel')
    return childNodes(node).flatMap((region, at) => [...(at === 0 ? [] : ['--']), ...declare(region, edges)])
  const first = isEntered(node, edges) ? node.initial.target[0] : undefined
  return [
    ...childNodes(node).flatMap((child) => declare(child, edges)),
    ...(first === undefined ? [] : [`[*] --> ${idOf(first)}`]),
  ]
}

/** Entered as a whole, so that its initial state matters. Where every transition names a child, a marker would mislead. */
function isEntered(node: AnyStateNode, edges: readonly ChartEdge[]): boolean {
  const { parent } = node
  if (parent === undefined || edges.some((edge) => edge.targets.includes(node))) return true
  return (parent.type === 'parallel' || parent.initial.target.includes(node)) && isEntered(parent, edges)
}

function noteOf(node: AnyStateNode, edges: readonly ChartEdge[]): readonly string[] {
  const isDrawn = node.parent !== undefined || node.type === 'parallel'
  const lines = childNodes(node).length === 0 || !isDrawn ? [] : stays(node, edges)
  return lines.length === 0 ? [] : [`note right of ${idOf(node)}`, ...indent(lines), 'end note']
}

/** What happens in a state without a change of state: entry and exit actions, and facts that are only folded. */
function stays(node: AnyStateNode, edges: readonly ChartEdge[]): readonly string[] {
  const own = edges.filter(({ source, targets }) => source === node && targets.every((target) => target === node))
  return [
    ...node.entry.map((action) => `entry / ${plain(actionName(action))}`),
    ...node.exit.map((action) => `exit / ${plain(actionName(action))}`),
    ...labelLines(own, edges),
  ]
}

/** One arrow a pair of states, whatever number of transitions there are between them: parallel arrows hide each other's labels. */
function arrows(edges: readonly ChartEdge[]): readonly string[] {
  const between = new Map<string, ChartEdge[]>()
  for (const edge of edges)
    for (const target of edge.targets)
      for (const source of origins(edge.source, target)) {
        const arrow = `${idOf(source)} --> ${idOf(target)}`
        between.set(arrow, [...(between.get(arrow) ?? []), edge])
      }
  return [...between].map(([arrow, own]) => `${arrow} : ${labelLines(own, edges).join('<br/>')}`)
}

/** Where an arrow begins. From a state into its own child it would hide behind them: it begins at the child's siblings instead. */
function origins(source: AnyStateNode, target: AnyStateNode): readonly AnyStateNode[] {
  if (source === target) return []
  const siblings = target.parent === source ? childNodes(source).filter((child) => child !== target) : []
  return siblings.length > 0 ? siblings : [source]
}

/** Events that share guard and actions share a line. */
function labelLines(own: readonly ChartEdge[], edges: readonly ChartEdge[]): readonly string[] {
  const events = new Map<string, string[]>()
  for (const edge of own) {
    const rest = restOf(edge, edges)
    events.set(rest, [...(events.get(rest) ?? []), plain(edge.event ?? 'always')])
  }
  return [...events].flatMap(([rest, names]) => chunks(names).map((some) => `${some.join(', ')}${rest}`))
}

function chunks(names: readonly string[]): readonly (readonly string[])[] {
  return names.length <= eventsPerLine
    ? [names]
    : [names.slice(0, eventsPerLine), ...chunks(names.slice(eventsPerLine))]
}

function restOf(edge: ChartEdge, edges: readonly ChartEdge[]): string {
  const actions = edge.actions.filter((action) => action !== unsaid)
  const guard = edge.guard ?? (isOtherwise(edge, edges) ? 'else' : null)
  return [
    ...(guard === null ? [] : [` [${plain(guard)}]`]),
    ...(actions.length === 0 ? [] : [` / ${actions.map(plain).join(', ')}`]),
  ].join('')
}

/** No guard of its own, but others are asked first. */
function isOtherwise(edge: ChartEdge, edges: readonly ChartEdge[]): boolean {
  return edges.some((other) => other !== edge && other.source === edge.source && other.event === edge.event)
}

/** Ids may hold letters, digits and underscores only; the path keeps them unique. */
function idOf(node: AnyStateNode): string {
  return [node.machine.id, ...node.path].map(wordOf).join('_')
}

function wordOf(key: string): string {
  return key.replace(/[^A-Za-z0-9]/g, (sign) => `_${sign.codePointAt(0)?.toString(16)}_`)
}

/** Signs that would end a label or open a string. */
function plain(text: string): string {
  return text.replace(/[":;\n<>{}]/g, ' ')
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`)
}
