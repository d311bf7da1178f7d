import { type Labels, type Measure, type MeasureName, measures } from './measures.ts'
import type { Series, SeriesBook } from './series.ts'

/** The numbers in the text format of Prometheus 0.0.4. */
export function prometheusText(book: SeriesBook): string {
  const names = Object.keys(measures) as MeasureName[]
  return names
    .flatMap((name) => family(measures[name], book.of(name)))
    .join('\n')
    .concat('\n')
}

function family(measure: Measure, series: readonly Series[]): readonly string[] {
  const name = nameOf(measure)
  return [
    `# HELP ${name} ${measure.help}`,
    `# TYPE ${name} ${measure.kind}`,
    ...series.flatMap((each) => (measure.kind === 'histogram' ? histogram(name, measure, each) : [plain(name, each)])),
  ]
}

function nameOf({ name, kind, unit }: Measure): string {
  const words = name.replaceAll('.', '_')
  return `${words}${unit === 's' ? '_seconds' : ''}${kind === 'counter' ? '_total' : ''}`
}

function plain(name: string, { labels, value }: Series): string {
  return `${name}${labelText(labels)} ${value}`
}

function histogram(name: string, { bounds = [] }: Measure, series: Series): readonly string[] {
  const { labels, value, count, buckets } = series
  let below = 0
  const lines = bounds.map((bound, at) => {
    below += buckets[at] ?? 0
    return `${name}_bucket${labelText({ ...labels, le: String(bound) })} ${below}`
  })
  return [
    ...lines,
    `${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${count}`,
    `${name}_sum${labelText(labels)} ${value}`,
    `${name}_count${labelText(labels)} ${count}`,
  ]
}

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name.replaceAll('.', '_')}="${escaped(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
