import type { SourceFile } from './source-files.ts'
import { type Comment, childNode, childNodes, lineOf, type Node, nameOf, parse, visit } from './syntax.ts'

export const lineLimit = 300
export const lineLimitHard = 400
const functionLimit = 70
const parameterLimit = 4

/** Files between the two limits, each with the reason why it is one idea and not two. */
export const longFiles: Readonly<Record<string, string>> = {}

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

type Rule = (file: SourceFile) => string[]

export function lengthProblems(file: SourceFile, exceptions: Readonly<Record<string, string>> = longFiles): string[] {
  const lines = file.text.trimEnd().split('\n').length
  if (lines <= lineLimit) return []
  if (lines > lineLimitHard) return [`${file.path}: ${lines} lines`]
  return file.path in exceptions ? [] : [`${file.path}: ${lines} lines and no reason in the exception list`]
}

const suiteWords = new Set(['describe', 'it', 'test', 'beforeAll', 'beforeEach', 'afterAll', 'afterEach'])

/** The first name of a call such as `describe.each(…)(…)`. */
function calledName(call: Node): string {
  let callee = childNode(call, 'callee')
  while (callee && callee.type !== 'Identifier') callee = childNode(callee, 'object') ?? childNode(callee, 'callee')
  return nameOf(callee)
}

/** A suite given to `describe`, or a function of tests and what they share: a list, not something that somebody must follow. */
function isSuite(node: Node, parent: Node | undefined): boolean {
  if (parent?.type === 'CallExpression') return calledName(parent) === 'describe'
  const body = childNode(node, 'body')
  const statements = body ? childNodes(body, 'body') : []
  const tests = statements.filter((statement) => {
    const call = childNode(statement, 'expression')
    return call?.type === 'CallExpression' && suiteWords.has(calledName(call))
  })
  const shared = statements.filter(({ type }) => type === 'VariableDeclaration' || type === 'FunctionDeclaration')
  return tests.length > 1 && tests.length + shared.length === statements.length
}

export const functionProblems: Rule = (file) => {
  const problems: string[] = []
  visit(parse(file.path, file.text).program, (node, parents) => {
    if (!functionTypes.has(node.type)) return
    const first = lineOf(file.text, node.start)
    const lines = lineOf(file.text, node.end) - first + 1
    if (lines > functionLimit && !isSuite(node, parents.at(-1)))
      problems.push(`${file.path}:${first}: function of ${lines} lines`)
    const parameters = childNodes(node, 'params').length
    if (parameters > parameterLimit) problems.push(`${file.path}:${first}: ${parameters} parameters`)
  })
  return problems
}

const marks: readonly (readonly [RegExp, string])[] = [
  [/\b(TODO|FIXME|XXX|HACK)\b/, 'a mark for later work'],
  [/@ts-(ignore|nocheck)/, 'a suppressed type error'],
  [/@ts-expect-error(?!\s*:?\s*\S.{9})/, 'an expected type error without a reason'],
  [/@(param|returns?|type|typedef)\s*\{/, 'a type in a comment'],
]

export const commentProblems: Rule = (file) =>
  parse(file.path, file.text).comments.flatMap((comment) =>
    marks
      .filter(([pattern]) => pattern.test(comment.value))
      .map(([, what]) => `${file.path}:${lineOf(file.text, comment.start)}: ${what}`),
  )

export const castProblems: Rule = (file) => {
  const problems: string[] = []
  visit(parse(file.path, file.text).program, (node) => {
    const line = lineOf(file.text, node.start)
    if (node.type === 'TSAnyKeyword') problems.push(`${file.path}:${line}: any`)
    if (node.type !== 'TSAsExpression') return
    let inner = childNode(node, 'expression')
    while (inner?.type === 'ParenthesizedExpression') inner = childNode(inner, 'expression')
    const throughUnknown =
      inner?.type === 'TSAsExpression' && childNode(inner, 'typeAnnotation')?.type === 'TSUnknownKeyword'
    if (throughUnknown) problems.push(`${file.path}:${line}: cast through unknown`)
  })
  return problems
}

function hasReason(line: number, text: string, comments: readonly Comment[]): boolean {
  return comments.some((comment) => {
    const end = lineOf(text, comment.end)
    return (end === line || end === line - 1) && comment.value.trim().length >= 10
  })
}

/** `.only` never; a skipped or conditional test needs a comment above it, or a reason as the argument of `context.skip`. */
export const skipProblems: Rule = (file) => {
  const { program, comments } = parse(file.path, file.text)
  const problems: string[] = []
  visit(program, (node, parents) => {
    if (node.type !== 'MemberExpression') return
    let suite = childNode(node, 'object')
    while (suite && suite.type !== 'Identifier') suite = childNode(suite, 'object') ?? childNode(suite, 'callee')
    const what = nameOf(childNode(node, 'property'))
    const line = lineOf(file.text, node.start)
    const ofTests = ['it', 'test', 'describe', 'bench'].includes(nameOf(suite))
    if (ofTests && what === 'only') problems.push(`${file.path}:${line}: .only`)
    const conditional = ofTests && ['skip', 'skipIf', 'runIf', 'todo', 'fails'].includes(what)
    if (conditional && !hasReason(line, file.text, comments))
      problems.push(`${file.path}:${line}: .${what} without a reason`)
    const call = parents.at(-1)
    const bare =
      !ofTests && what === 'skip' && call?.type === 'CallExpression' && childNodes(call, 'arguments').length === 0
    if (bare) problems.push(`${file.path}:${line}: skip() without a reason`)
  })
  return problems
}

const vagueNames = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'shared', 'stuff', 'index'])
const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/

export const nameProblems: Rule = (file) => {
  const parts = file.path.split('/')
  const base = (parts.at(-1) ?? '').replace(/\.(d\.)?tsx?$/, '')
  const stem = base.split('.')[0] ?? ''
  if (file.path !== 'src/index.ts' && vagueNames.has(stem)) return [`${file.path}: says nothing about what it holds`]
  if (parts.slice(0, -1).some((folder) => vagueNames.has(folder)))
    return [`${file.path}: in a folder named for nothing`]
  return kebab.test(base) ? [] : [`${file.path}: not kebab-case`]
}

/** Vite reads its configuration from a default export. */
const mayExportDefault = (path: string): boolean => path.endsWith('/vite.config.ts')
const mayReexport = (path: string): boolean => path === 'src/index.ts' || path.endsWith('/public.ts')

export const reexportProblems: Rule = (file) => {
  const problems: string[] = []
  visit(parse(file.path, file.text).program, (node) => {
    const line = lineOf(file.text, node.start)
    if (node.type === 'ExportAllDeclaration') problems.push(`${file.path}:${line}: export *`)
    if (node.type === 'ExportDefaultDeclaration' && !mayExportDefault(file.path))
      problems.push(`${file.path}:${line}: default export`)
    const again = node.type === 'ExportNamedDeclaration' && childNode(node, 'source') !== null
    if (again && !mayReexport(file.path)) problems.push(`${file.path}:${line}: a re-export outside the public entries`)
  })
  return problems
}

const folders = ['home', 'Users', 'root', 'work'].join('|')
const machinePath = new RegExp(`(?<![\\w.~$}-])/(${folders})/[\\w.]`)
const registryHost = new RegExp(
  `https?://[\\w.-]*(${['registry', 'npmjs', 'verdaccio', 'artifactory'].join('|')})[\\w.-]*`,
)

/** The repository speaks of itself alone. */
export const placeProblems: Rule = (file) =>
  file.text.split('\n').flatMap((line, at) => {
    const problems: string[] = []
    if (machinePath.test(line)) problems.push(`${file.path}:${at + 1}: a path of some machine`)
    if (registryHost.test(line)) problems.push(`${file.path}:${at + 1}: a registry host`)
    return problems
  })

const topLevel = new Set([
  'LICENSE',
  'README.md',
  'machines',
  'model-tests',
  'package-lock.json',
  'package.json',
  'src',
  'test',
  'tsconfig.json',
])
const ignoredTop = /^(node_modules|dist|coverage|.*\.db(-shm|-wal)?|.*\.tgz|.*\.tsbuildinfo)$/

export function topLevelProblems(names: readonly string[]): string[] {
  return names.filter((name) => !name.startsWith('.') && !topLevel.has(name) && !ignoredTop.test(name))
}
