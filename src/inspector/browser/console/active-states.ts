/** Ids of the states that a chart's value names, as they stand in the drawing of the chart. */
export function activeStates(chart: string, value: unknown): readonly string[] {
  return value === undefined || value === null ? [] : [chart, ...within(chart, value)]
}

function within(parent: string, value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [`${parent}.${value}`]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [`${parent}.${key}`, ...within(`${parent}.${key}`, inner)])
}
