import { type Labels, type Measure, type MeasureName, measures } from './measures.ts'

export interface Series {
  readonly labels: Labels
  /** The count of a counter, the sum of a histogram, the value of a gauge. */
  value: number
  count: number
  /** Observations up to each bound, not cumulated. */
  readonly buckets: number[]
}

/** So many combinations of labels a measure; what comes later is counted together. */
const seriesMax = 256

/**
 * Owns: the numbers since this process began.
 * 1. A measure has at most `seriesMax` series and one more for the rest, whatever tools and models are called.
 */
export class SeriesBook {
  readonly #all = new Map<MeasureName, Map<string, Series>>()

  of(measure: MeasureName): readonly Series[] {
    return [...(this.#all.get(measure)?.values() ?? [])]
  }

  add(measure: MeasureName, value: number, labels: Labels = {}): void {
    const series = this.#find(measure, labels)
    series.value += value
    series.count += 1
    const { bounds = [] }: Measure = measures[measure]
    const at = bounds.findIndex((bound) => value <= bound)
    if (at >= 0) series.buckets[at] = (series.buckets[at] ?? 0) + 1
  }

  set(measure: MeasureName, value: number): void {
    this.#find(measure, {}).value = value
  }

  #find(measure: MeasureName, labels: Labels): Series {
    const known = this.#all.get(measure) ?? new Map<string, Series>()
    this.#all.set(measure, known)
    const key = JSON.stringify(labels)
    const found = known.get(key)
    if (found !== undefined) return found
    const others = rest(labels)
    if (known.size >= seriesMax && key !== JSON.stringify(others)) return this.#find(measure, others)
    const { bounds = [] }: Measure = measures[measure]
    const series = { labels, value: 0, count: 0, buckets: bounds.map(() => 0) }
    known.set(key, series)
    return series
  }
}

function rest(labels: Labels): Labels {
  return Object.fromEntries(Object.keys(labels).map((name) => [name, 'other']))
}
