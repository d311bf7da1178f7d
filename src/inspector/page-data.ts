import type { Simulation } from './simulator/simulate.ts'

/** What the chart page is sent with: everything that it shows before the first event. */
export interface PageData {
  readonly charts: readonly PageChart[]
}

export interface PageChart {
  readonly name: string
  /** The drawing, as SVG text, or why there is none. */
  readonly drawing: { readonly svg: string } | { readonly problem: string }
  readonly description: string | null
  /** What the simulation begins with, to be changed by the reader; null for a chart that takes none. */
  readonly input: unknown
  /** How it begins, or why it does not: many a chart needs an input, and some begin with none. */
  readonly beginning: SimulateAnswer
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
