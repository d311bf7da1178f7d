import type { Simulation } from './simulator/simulate.ts'

/** What the chart page is sent with: everything that it shows before the first event. */
export interface PageData {
  readonly charts: readonly PageChart[]
}

export interface PageChart {
  readonly name: string
  /** The drawing, as SVG text. */
  readonly svg: string
  readonly description: string | null
  /** What the simulation begins with, to be changed by the reader; null for a chart that takes none. */
  readonly input: unknown
  /** How it begins; null when the chart needs another input to begin at all. */
  readonly simulation: Simulation | null
}

/** What the page asks its server for. */
export interface SimulateRequest {
  readonly chart: string
  readonly input: unknown
  readonly events: readonly { readonly type: string }[]
}

/** The answer: a simulation, or why there is none. */
export type SimulateAnswer = { readonly simulation: Simulation } | { readonly code: string; readonly message: string }

/** Id of the element in which the data stands. */
export const pageDataId = 'landfall-charts'
