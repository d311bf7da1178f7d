/** Features that a row of the table may be waiting for. A feature moves to `present` with the change that completes it. */
export const features: { readonly present: readonly string[]; readonly planned: readonly string[] } = {
  present: [
    'charts',
    'log',
    'runtime',
    'steering',
    'calls',
    'recovery',
    'models',
    'redaction',
    'bus',
    'cli',
    'compaction',
    'pauses',
    'verify',
    'budget',
    'capabilities',
    'elevated reads',
    'background tasks',
    'memory',
    'http',
  ],
  planned: ['fleet', 'simulator'],
}

export const decided: readonly string[] = ['facts', 'facts and content', 'running system']

export const invariantIds: readonly string[] = Array.from(
  { length: 24 },
  (_, at) => `INV-${String(at + 1).padStart(2, '0')}`,
)

export interface InvariantRow {
  readonly id: string
  readonly statement: string
  readonly decidedBy: string
  readonly since: string
  /** Paths of the test files that guard it. */
  readonly tests: readonly string[]
}

const plain = (cell: string): string => cell.replaceAll('`', '').trim()

/** Rows of the table whose columns are id, statement, decided by, holds since, guarding test. */
export function invariantRows(markdown: string): InvariantRow[] {
  return markdown
    .split('\n')
    .filter((line) => /^\|\s*`?INV-\d\d/.test(line))
    .map((line) => {
      const cells = line.replaceAll('\\|', '¦').split('|').slice(1, -1).map(plain)
      const [id = '', statement = '', decidedBy = '', since = '', guard = ''] = cells
      return { id, statement, decidedBy, since, tests: guard.match(/(?:model-)?tests?\/[\w./-]+\.test\.ts/g) ?? [] }
    })
}

function decidedFor(id: string): string {
  if (['INV-08', 'INV-12', 'INV-14'].includes(id)) return 'facts and content'
  return ['INV-21', 'INV-23'].includes(id) ? 'running system' : 'facts'
}

function rowProblems(row: InvariantRow, known: typeof features, textOf: (path: string) => string | null): string[] {
  const problems: string[] = []
  if (row.statement.length < 20) problems.push(`${row.id}: no statement`)
  if (row.decidedBy !== decidedFor(row.id))
    problems.push(`${row.id}: decided by ${decidedFor(row.id)}, not "${row.decidedBy}"`)
  const present = known.present.includes(row.since)
  if (!present && !known.planned.includes(row.since)) problems.push(`${row.id}: "${row.since}" is no known feature`)
  if (present && row.tests.length === 0) problems.push(`${row.id}: holds since ${row.since} and no test guards it`)
  for (const path of row.tests) {
    const text = textOf(path)
    if (text === null) problems.push(`${row.id}: ${path} does not exist`)
    else if (!text.includes(row.id)) problems.push(`${row.id}: ${path} does not mention it`)
  }
  return problems
}

/** `textOf` gives the text of a test file, or null when there is none. */
export function invariantProblems(
  rows: readonly InvariantRow[],
  known: typeof features,
  textOf: (path: string) => string | null,
): string[] {
  const ids = rows.map((row) => row.id)
  const missing = invariantIds.filter((id) => !ids.includes(id)).map((id) => `${id}: no row`)
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${id}: more than one row`)
  const strange = ids.filter((id) => !invariantIds.includes(id)).map((id) => `${id}: not an invariant`)
  return [...missing, ...twice, ...strange, ...rows.flatMap((row) => rowProblems(row, known, textOf))]
}
