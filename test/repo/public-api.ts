import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { childNode, childNodes, type Node, nameOf, parse } from './syntax.ts'

type ReadFile = (path: string) => string | null

interface Module {
  readonly path: string
  readonly text: string
  readonly body: readonly Node[]
}

export function readFrom(folder: string): ReadFile {
  return (path) => (existsSync(posix.join(folder, path)) ? readFileSync(posix.join(folder, path), 'utf8') : null)
}

function load(path: string, read: ReadFile): Module {
  const text = read(path)
  if (text === null) throw new Error(`${path} is named as public and does not exist`)
  return { path, text, body: childNodes(parse(path, text).program, 'body') }
}

function declaredNames(declaration: Node): string[] {
  if (declaration.type === 'VariableDeclaration')
    return childNodes(declaration, 'declarations').map((one) => nameOf(childNode(one, 'id')))
  return [nameOf(childNode(declaration, 'id'))]
}

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')

/** One line a declaration, so that a change of layout is none of the interface. */
function signature(module: Module, declaration: Node): string {
  return withoutComments(module.text.slice(declaration.start, declaration.end))
    .replace(/\s+/g, ' ')
    .replace(/^declare /, '')
    .trim()
}

const isExport = (statement: Node): boolean => statement.type === 'ExportNamedDeclaration'

function declarationsOf(module: Module, name: string): string[] {
  return module.body
    .map((statement) => (isExport(statement) ? childNode(statement, 'declaration') : statement))
    .filter((declaration) => declaration !== null && declaredNames(declaration).includes(name))
    .map((declaration) => (declaration ? signature(module, declaration) : ''))
}

function importedFrom(module: Module, local: string): { path: string; name: string } | null {
  for (const statement of module.body) {
    if (statement.type !== 'ImportDeclaration') continue
    for (const specifier of childNodes(statement, 'specifiers')) {
      const source = String(childNode(statement, 'source')?.value)
      if (nameOf(childNode(specifier, 'local')) === local)
        return { path: source, name: nameOf(childNode(specifier, 'imported')) }
    }
  }
  return null
}

const declarationPath = (from: string, specifier: string): string =>
  posix.join(posix.dirname(from), specifier).replace(/\.(js|ts)$/, '.d.ts')

function resolve(module: Module, name: string, read: ReadFile): string[] {
  const own = declarationsOf(module, name)
  if (own.length > 0) return own
  for (const statement of module.body.filter(isExport)) {
    const source = childNode(statement, 'source')
    const specifier = childNodes(statement, 'specifiers').find((one) => nameOf(childNode(one, 'exported')) === name)
    if (!specifier) continue
    const local = nameOf(childNode(specifier, 'local'))
    if (source) return follow(module, String(source.value), local, read)
    const imported = importedFrom(module, local)
    return imported ? follow(module, imported.path, imported.name, read) : declarationsOf(module, local)
  }
  throw new Error(`${module.path}: ${name} is exported and not found`)
}

function follow(module: Module, specifier: string, name: string, read: ReadFile): string[] {
  if (!specifier.startsWith('.')) return [`from ${specifier}`]
  return resolve(load(declarationPath(module.path, specifier), read), name, read)
}

function exportedNames(module: Module): string[] {
  return module.body.filter(isExport).flatMap((statement) => {
    const declaration = childNode(statement, 'declaration')
    const listed = childNodes(statement, 'specifiers').map((one) => nameOf(childNode(one, 'exported')))
    return declaration ? declaredNames(declaration) : listed
  })
}

/** The names that an entry exports with their signatures, sorted, as text. */
export function describeEntry(path: string, read: ReadFile): string {
  const module = load(path, read)
  const names = [...new Set(exportedNames(module))].sort()
  return names
    .map(
      (name) =>
        `  ${name}\n${resolve(module, name, read)
          .map((line) => `    ${line}\n`)
          .join('')}`,
    )
    .join('')
}

/** `entries`: public sub-path to declaration file. */
export function describeApi(entries: Readonly<Record<string, string>>, read: ReadFile): string {
  return Object.entries(entries)
    .map(([name, path]) => `${name}\n${describeEntry(path, read)}`)
    .join('\n')
}
