import { parseSync } from 'vite'

/** A syntax node as the parser gives it: rules look at the few fields that they know by name. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

export interface Comment {
  readonly value: string
  readonly start: number
  readonly end: number
}

export interface Syntax {
  readonly program: Node
  readonly comments: readonly Comment[]
}

const cache = new Map<string, Syntax>()

/** Parses with the parser of the bundler that the tests run on. Throws on a syntax error, so that no rule passes on half a file. */
export function parse(path: string, text: string): Syntax {
  const key = `${path}\n${text}`
  const known = cache.get(key)
  if (known) return known
  const result = parseSync(path, text, { lang: languageOf(path), sourceType: 'module' })
  const error = result.errors[0]
  if (error) throw new Error(`${path}: ${error.message}`)
  const syntax = { program: asNode(result.program), comments: result.comments }
  cache.set(key, syntax)
  return syntax
}

function languageOf(path: string): 'dts' | 'ts' | 'tsx' {
  if (path.endsWith('.d.ts')) return 'dts'
  return path.endsWith('.tsx') ? 'tsx' : 'ts'
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

export function asNode(value: unknown): Node {
  if (!isNode(value)) throw new Error('not a syntax node')
  return value
}

export function childNode(node: Node, field: string): Node | null {
  const child = node[field]
  return isNode(child) ? child : null
}

export function childNodes(node: Node, field: string): readonly Node[] {
  const child = node[field]
  return Array.isArray(child) ? child.filter(isNode) : []
}

/** Depth first, parents before children; `parents` ends with the direct parent. */
export function visit(
  node: Node,
  see: (node: Node, parents: readonly Node[]) => void,
  parents: readonly Node[] = [],
): void {
  see(node, parents)
  const below = [...parents, node]
  for (const value of Object.values(node)) {
    if (isNode(value)) visit(value, see, below)
    else if (Array.isArray(value)) for (const item of value) if (isNode(item)) visit(item, see, below)
  }
}

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** The name of an identifier or of a plain property key, else ''. */
export function nameOf(node: Node | null): string {
  if (!node) return ''
  if (node.type === 'Identifier' || node.type === 'JSXIdentifier') return String(node.name)
  if (node.type === 'Literal') return String(node.value)
  return ''
}
