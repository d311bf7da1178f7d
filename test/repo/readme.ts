export interface Snippet {
  readonly language: string
  /** What follows the language on the fence, such as `tour` or `file=demo.json`. */
  readonly notes: readonly string[]
  readonly body: string
  readonly line: number
}

/** Fenced blocks of a Markdown text, in order. */
export function snippetsOf(markdown: string): Snippet[] {
  const found: Snippet[] = []
  const lines = markdown.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const open = /^(`{3,})(\w+)?(.*)$/.exec(lines[at] ?? '')
    if (!open) continue
    const fence = open[1] ?? '```'
    const first = at + 1
    while (at + 1 < lines.length && (lines[at + 1] ?? '').trimEnd() !== fence) at++
    found.push({
      language: open[2] ?? '',
      notes: (open[3] ?? '').trim().split(/\s+/).filter(Boolean),
      body: lines.slice(first, at + 1).join('\n'),
      line: first,
    })
    at++
  }
  return found
}

/** Files that the tour needs: blocks marked `file=NAME`, NAME without folders. */
export function tourFiles(snippets: readonly Snippet[]): { name: string; body: string }[] {
  return snippets.flatMap((snippet) =>
    snippet.notes.flatMap((note) => {
      const name = /^file=([\w.-]+)$/.exec(note)?.[1]
      return name === undefined ? [] : [{ name, body: snippet.body }]
    }),
  )
}

export function tourBlocks(snippets: readonly Snippet[]): Snippet[] {
  return snippets.filter((snippet) => snippet.language === 'sh' && snippet.notes.includes('tour'))
}

/** TypeScript blocks are modules of their own, whether or not they import something. */
export function codeModules(snippets: readonly Snippet[]): string[] {
  return snippets.filter((snippet) => snippet.language === 'ts').map((snippet) => `${snippet.body}\nexport {}\n`)
}
