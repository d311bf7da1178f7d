import { type ChartStateJson, chartJson } from './chart-json.ts'
import { ownCharts as shownCharts } from './simulator/own-charts.ts'

/** The charts that decide, by name, as plain data. */
export function ownCharts(): { readonly [name: string]: ChartStateJson } {
  return Object.fromEntries(shownCharts.map(({ name, machine }) => [name, chartJson(machine)]))
}
