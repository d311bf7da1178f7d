import { posix } from 'node:path'
import type { SourceFile } from './source-files.ts'
import { childNode, childNodes, nameOf, parse, visit } from './syntax.ts'

export interface Import {
  readonly from: string
  readonly specifier: string
  /** Repository path for relative imports, else null. */
  readonly target: string | null
  readonly typeOnly: boolean
  readonly reexport: boolean
  /** Imported names; empty for `import()` and namespace imports. */
  readonly names: readonly string[]
}

const importing = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
])

/** Everything that a file imports: static, dynamic, type-only, `import('…')` types and re-exports. */
export function importsOf(file: SourceFile): Import[] {
  const found: Import[] = []
  visit(parse(file.path, file.text).program, (node) => {
    if (!importing.has(node.type)) return
    const source = childNode(node, 'source') ?? childNode(node, 'argument')
    const literal = source?.type === 'TSLiteralType' ? childNode(source, 'literal') : source
    if (literal?.type !== 'Literal') return
    const specifier = String(literal.value)
    const relative = specifier.startsWith('.')
    found.push({
      from: file.path,
      specifier,
      target: relative ? posix.join(posix.dirname(file.path), specifier) : null,
      typeOnly: node.importKind === 'type' || node.exportKind === 'type' || node.type === 'TSImportType',
      reexport: node.type.startsWith('Export'),
      names: childNodes(node, 'specifiers').map((s) => nameOf(childNode(s, 'imported'))),
    })
  })
  return found
}

/** `@scope/name` or `name` of a bare specifier; null for relative ones and for Node's own modules. */
export function packageOf(specifier: string): string | null {
  // A page's build makes what is virtual.
  if (['.', 'node:', 'virtual:'].some((start) => specifier.startsWith(start))) return null
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
