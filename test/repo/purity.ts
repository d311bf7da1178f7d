import { importsOf } from './imports.ts'
import type { SourceFile } from './source-files.ts'
import { childNode, childNodes, lineOf, type Node, nameOf, parse, visit } from './syntax.ts'

/** Names that bring in time, chance, the network or the process. */
const impureNames = new Set([
  'Date',
  'crypto',
  'fetch',
  'globalThis',
  'performance',
  'process',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
])

/** What xstate offers for starting work or keeping time inside a chart. */
const impureXstate = new Set([
  'cancel',
  'createActor',
  'createEmptyActor',
  'fromCallback',
  'fromEventObservable',
  'fromObservable',
  'fromPromise',
  'fromTransition',
  'sendTo',
  'spawnChild',
  'stopChild',
  'waitFor',
])

/** What a file may use of these all the same, with the reason. */
export const allowedXstate: Readonly<Record<string, readonly string[]>> = {
  // The scope that a machine's own transition asks for: an actor that is built once and never started.
  'machines/fold.ts': ['createActor'],
}

/** The only files (and folders, with a slash at the end) that may touch real time, chance and timers, each with its reason. */
export const realPorts: Readonly<Record<string, string>> = {
  'src/facts/system-ports.ts': 'the real clock, scheduler, random source and ids',
  'src/inspector/browser/console/browser-timers.ts': 'a page has no other timers than its browser has',
  'src/bench/': 'measures how long things really take',
}

const isTypePosition = (parents: readonly Node[]): boolean => parents.some((node) => node.type === 'TSTypeReference')

const isPropertyName = (node: Node, parent: Node | undefined): boolean => {
  if (!parent) return false
  const inMember =
    parent.type === 'MemberExpression' && childNode(parent, 'property') === node && parent.computed !== true
  const asKey =
    'key' in parent && childNode(parent, 'key') === node && parent.computed !== true && parent.shorthand !== true
  return inMember || asKey
}

function isMathRandom(node: Node): boolean {
  return (
    node.type === 'MemberExpression' &&
    nameOf(childNode(node, 'object')) === 'Math' &&
    nameOf(childNode(node, 'property')) === 'random'
  )
}

/** A state node's `invoke`, `spawn` or `after`. A fact's `{ before, after }` pair is none. */
function chartKey(node: Node, parents: readonly Node[]): string | null {
  if (node.type !== 'Property') return null
  const key = nameOf(childNode(node, 'key'))
  if (key === 'invoke' || key === 'spawn') return key
  const siblings = childNodes(parents.at(-1) ?? node, 'properties').map((p) => nameOf(childNode(p, 'key')))
  return key === 'after' && !siblings.includes('before') ? key : null
}

function startsActor(node: Node): boolean {
  const callee = node.type === 'CallExpression' ? childNode(node, 'callee') : null
  return callee?.type === 'MemberExpression' && nameOf(childNode(callee, 'property')) === 'start'
}

function impureReason(node: Node, parents: readonly Node[]): string | null {
  if (isMathRandom(node)) return 'Math.random'
  if (startsActor(node)) return 'starts an actor'
  if (node.type !== 'Identifier') return chartKey(node, parents)
  const name = nameOf(node)
  if (name === 'spawn' && !isPropertyName(node, parents.at(-1))) return name
  const used = impureNames.has(name) && !isTypePosition(parents) && !isPropertyName(node, parents.at(-1))
  return used ? name : null
}

/** For `machines/` and `src/context`: no time, no chance, no I/O, nothing that starts work. */
export function impurities(files: readonly SourceFile[]): string[] {
  const problems: string[] = []
  for (const file of files) {
    for (const found of importsOf(file)) {
      if (found.specifier.startsWith('node:')) problems.push(`${file.path}: imports ${found.specifier}`)
      if (!found.specifier.startsWith('xstate') || found.typeOnly) continue
      const allowed = allowedXstate[file.path] ?? []
      for (const name of found.names)
        if (impureXstate.has(name) && !allowed.includes(name)) problems.push(`${file.path}: imports ${name} of xstate`)
    }
    visit(parse(file.path, file.text).program, (node, parents) => {
      const reason = impureReason(node, parents)
      if (reason !== null) problems.push(`${file.path}:${lineOf(file.text, node.start)}: ${reason}`)
    })
  }
  return problems
}

const ambient = new Set(['setTimeout', 'setInterval', 'setImmediate', 'performance'])

function ambientReason(node: Node, parents: readonly Node[]): string | null {
  if (isMathRandom(node)) return 'Math.random'
  if (node.type === 'NewExpression' && nameOf(childNode(node, 'callee')) === 'Date')
    return childNodes(node, 'arguments').length === 0 ? 'new Date()' : null
  if (node.type === 'MemberExpression' && nameOf(childNode(node, 'object')) === 'Date')
    return nameOf(childNode(node, 'property')) === 'now' ? 'Date.now' : null
  if (node.type !== 'Identifier' || isPropertyName(node, parents.at(-1))) return null
  return ambient.has(nameOf(node)) ? nameOf(node) : null
}

/** For all other product code: real time and chance come through the ports. */
export function ambientUses(files: readonly SourceFile[], allowed: Readonly<Record<string, string>>): string[] {
  const problems: string[] = []
  for (const file of files) {
    if (
      Object.keys(allowed).some((place) => file.path === place || (place.endsWith('/') && file.path.startsWith(place)))
    )
      continue
    visit(parse(file.path, file.text).program, (node, parents) => {
      const reason = ambientReason(node, parents)
      if (reason !== null) problems.push(`${file.path}:${lineOf(file.text, node.start)}: ${reason} instead of a port`)
    })
  }
  return problems
}

interface StateNodeLike {
  readonly id: string
  readonly invoke: readonly unknown[]
  readonly after: readonly unknown[]
  readonly states: Readonly<Record<string, StateNodeLike>>
}

/** Walks a built machine: what the text may hide in a variable cannot hide here. */
export function activeStates(node: StateNodeLike): string[] {
  const own: string[] = []
  if (node.invoke.length > 0) own.push(`${node.id} invokes`)
  if (node.after.length > 0) own.push(`${node.id} has a timer`)
  return [...own, ...Object.values(node.states).flatMap(activeStates)]
}
