import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { type ChartEdge, childNodes, stateName } from './chart-edges.ts'
import { type ChartRule, type ChartTold, initialChild, rulesOf, stayRules, toldOf } from './chart-rules.ts'
import { keeps } from './event-keeper.ts'

/** Events that are written side by side when nothing else tells them apart; more make boxes too wide. */
const eventsPerLine = 3

/**
 * A chart as Mermaid text (`stateDiagram-v2`), drawn from the machine's own state nodes. States are declared, nested as they are
 * in the chart, before any edge names them, because renderers otherwise show the raw id. What a state does without being left
 * stands inside it; what a state with children does so stands in a note beside it.
 */
export function mermaidOf(machine: AnyStateMachine): string {
  const told = toldOf(machine)
  const { root } = machine
  // Regions side by side need a state around them; a chart without regions needs no box around it.
  const body = root.type === 'parallel' ? declare(root, told) : inside(root, told)
  const notes = told.nodes.flatMap((node) => noteOf(node, told))
  return `${['stateDiagram-v2', ...indent([...body, ...notes, ...arrows(told)])].join('\n')}\n`
}

function declare(node: AnyStateNode, told: ChartTold): readonly string[] {
  const opening = `state "${plain(stateName(node))}" as ${idOf(node)}`
  if (childNodes(node).length > 0) return [`${opening} {`, ...indent(inside(node, told)), '}']
  const ending = node.type === 'final' ? [`${idOf(node)} --> [*]`] : []
  return [opening, ...lines(stayRules(node, told)).map((line) => `${idOf(node)} : ${line}`), ...ending]
}

function inside(node: AnyStateNode, told: ChartTold): readonly string[] {
  if (node.type === 'parallel')
    return childNodes(node).flatMap((region, at) => [...(at === 0 ? [] : ['--']), ...declare(region, told)])
  const first = initialChild(node, told)
  return [
    ...childNodes(node).flatMap((child) => declare(child, told)),
    ...(first === undefined ? [] : [`[*] --> ${idOf(first)}`]),
  ]
}

function noteOf(node: AnyStateNode, told: ChartTold): readonly string[] {
  const isDrawn = node.parent !== undefined || node.type === 'parallel'
  const beside = childNodes(node).length === 0 || !isDrawn ? [] : lines(stayRules(node, told))
  return beside.length === 0 ? [] : [`note right of ${idOf(node)}`, ...indent(beside), 'end note']
}

/** One arrow a pair of states, whatever number of transitions there are between them: parallel arrows hide each other's labels. */
function arrows(told: ChartTold): readonly string[] {
  const between = new Map<string, ChartEdge[]>()
  for (const edge of told.edges)
    for (const target of edge.targets)
      for (const source of origins(edge, target)) {
        const arrow = `${idOf(source)} --> ${idOf(target)}`
        between.set(arrow, [...(between.get(arrow) ?? []), edge])
      }
  return [...between].map(([arrow, own]) => `${arrow} : ${lines(rulesOf(own, told)).join('<br/>')}`)
}

/**
 * Where an arrow begins. From a state into its own child it would hide behind them: it begins at the child's siblings instead, as
 * far as they let the event through. Where none does, only the child itself may still be left for it.
 */
function origins({ source, event }: ChartEdge, target: AnyStateNode): readonly AnyStateNode[] {
  if (source === target) return []
  const siblings = target.parent === source ? childNodes(source).filter((child) => child !== target) : []
  if (siblings.length === 0) return [source]
  const open = siblings.filter((sibling) => !keeps(sibling, event))
  return open.length > 0 || keeps(target, event) ? open : [target]
}

function lines(rules: readonly ChartRule[]): readonly string[] {
  return rules.flatMap(({ events, guard, actions }) => {
    const rest = [
      ...(guard === null ? [] : [` [${plain(guard)}]`]),
      ...(actions.length === 0 ? [] : [` / ${actions.map(plain).join(', ')}`]),
    ].join('')
    return chunks(events.map(plain)).map((some) => `${some.join(', ')}${rest}`)
  })
}

function chunks(names: readonly string[]): readonly (readonly string[])[] {
  return names.length <= eventsPerLine
    ? [names]
    : [names.slice(0, eventsPerLine), ...chunks(names.slice(eventsPerLine))]
}

/** Ids may hold letters, digits and underscores only; the path keeps them unique. */
function idOf(node: AnyStateNode): string {
  return [node.machine.id, ...node.path].map(wordOf).join('_')
}

/**
 * A name as part of an id. Mermaid makes ids of its own (`root`, and those of the dots, which end in `_start` and `_end`) and keeps
 * states in plain objects, and a name of hexadecimal digits could be read as a sign: of such names the first letter is a sign, too.
 */
function wordOf(key: string): string {
  const isTaken = /^(?:root|start|end|[0-9a-f]{2,})$/.test(key) || key in {}
  return key.replace(
    isTaken ? /^./ : /[^A-Za-z0-9]/g,
    (sign) => `_${sign.charCodeAt(0).toString(16).padStart(2, '0')}_`,
  )
}

/** Entities stand for signs that end a label, open a string or mark words up, and break the words that are commands anywhere. */
function plain(text: string): string {
  const shown = text.replace(/\p{Cc}|[\u2028\u2029]/gu, ' ').replace(/\p{Surrogate}/gu, '\ufffd')
  if (shown.trim() === '') return entity(' ')
  return shown
    .replace(/["#%:;<>{}*`$~&\\]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, entity)
    .replace(/d(?=irection\s)|e(?=nd note)/gi, entity)
}

function entity(sign: string): string {
  return `#${sign.codePointAt(0)};`
}

function indent(texts: readonly string[]): readonly string[] {
  return texts.map((text) => `  ${text}`)
}
