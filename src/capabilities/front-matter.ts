/** What stands between the two lines of `---` at the head of a file, and what comes after it. */
export interface FrontMatter {
  readonly fields: { readonly [key: string]: string | readonly string[] }
  readonly body: string
}

const fence = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m

/**
 * The part of YAML that such heads are written in: `key: value`, quoted values, lists in brackets or with dashes, and texts of
 * several lines behind `>` or `|`. What is nested deeper is not read.
 */
export function parseFrontMatter(source: string): FrontMatter {
  const text = source.replace(/^\uFEFF/, '')
  const found = text.startsWith('---') ? fence.exec(text) : null
  if (found === null) return { fields: {}, body: text.trim() }
  return { fields: fieldsOf((found[1] ?? '').split(/\r?\n/)), body: text.slice(found[0].length).trim() }
}

function fieldsOf(lines: readonly string[]): FrontMatter['fields'] {
  const fields: Record<string, string | readonly string[]> = Object.create(null)
  for (let at = 0; at < lines.length; at += 1) {
    const named = /^([A-Za-z][\w-]*):[ \t]*(.*)$/.exec(lines[at] ?? '')
    if (named === null) continue
    const [, key = '', rest = ''] = named
    const indented: string[] = []
    while (/^(?:[ \t]+|[ \t]*- )\S|^\s*$/.test(lines[at + 1] ?? 'x') && at + 1 < lines.length) {
      at += 1
      indented.push((lines[at] ?? '').trim())
    }
    fields[key] = fieldValue(rest.trim(), indented)
  }
  return fields
}

function fieldValue(rest: string, indented: readonly string[]): string | readonly string[] {
  if (/^[>|][+-]?$/.test(rest)) return indented.join(rest.startsWith('>') ? ' ' : '\n').trim()
  if (/^\[.*\]$/.test(rest)) return listOf(rest.slice(1, -1).split(','))
  const dashed = indented.filter((line) => line.startsWith('- '))
  if (rest === '' && dashed.length > 0) return listOf(dashed.map((line) => line.slice(2)))
  return unquoted([rest, ...indented].join(' ').trim())
}

function listOf(items: readonly string[]): readonly string[] {
  return items.map((item) => unquoted(item.trim())).filter((item) => item !== '')
}

function unquoted(text: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"$|^'((?:[^']|'')*)'$/.exec(text)
  if (quoted === null) return text.replace(/\s+#.*$/, '')
  if (quoted[2] !== undefined) return quoted[2].replaceAll("''", "'")
  return (quoted[1] ?? '').replace(/\\(.)/g, '$1')
}
