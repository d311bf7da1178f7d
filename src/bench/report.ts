import type { Result, Row } from './result.ts'

export interface Machine {
  readonly node: string
  readonly platform: string
  readonly cpus: number
  readonly cpu: string
  readonly sqlite: string
  readonly scale: string
}

const columns = ['', 'product', 'floor', 'ratio', 'unit', 'goal'] as const

/** Three significant digits, in full: figures of a benchmark have no more than that. */
export function formatFigure(figure: number | null): string {
  if (figure === null) return '-'
  if (!Number.isFinite(figure)) return String(figure)
  const rounded = Number(figure.toPrecision(3))
  return Math.abs(rounded) >= 1000 ? rounded.toLocaleString('en-US') : String(rounded)
}

export function textReport(machine: Machine, results: readonly Result[]): string {
  const head = `node ${machine.node}, ${machine.platform}, ${machine.cpus} × ${machine.cpu}, SQLite ${machine.sqlite}, ${machine.scale}`
  return `${[head, ...results.map(textResult)].join('\n\n')}\n`
}

export function jsonReport(machine: Machine, results: readonly Result[]): string {
  return `${JSON.stringify({ machine, results }, null, 2)}\n`
}

function textResult(result: Result): string {
  const lines = [`${result.name}: ${result.conditions}`]
  if (result.availability !== 'measured')
    lines.push(`  product ${result.availability}: ${result.reason ?? 'no reason given'}`)
  if (result.rows.length > 0) lines.push(...table(result.rows))
  return lines.join('\n')
}

function table(rows: readonly Row[]): string[] {
  const cells: (readonly string[])[] = [columns, ...rows.map(rowCells)]
  const widths = columns.map((_, column) => Math.max(...cells.map((line) => (line[column] ?? '').length)))
  return cells.map((line) =>
    `  ${line.map((cell, column) => aligned(cell, column, widths[column] ?? 0)).join('  ')}`.trimEnd(),
  )
}

function rowCells(row: Row): readonly string[] {
  return [row.what, formatFigure(row.product), formatFigure(row.floor), formatFigure(row.ratio), row.unit, row.goal]
}

/** Figures (columns 1 to 3) stand to the right, words to the left. */
function aligned(cell: string, column: number, width: number): string {
  return column >= 1 && column <= 3 ? cell.padStart(width) : cell.padEnd(width)
}
