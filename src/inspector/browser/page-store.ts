import { createStore } from '@xstate/store'
import type { PageChart, SimulateAnswer, SimulateRequest } from '../page-data.ts'
import type { SimulatedEvent } from '../simulator/play-event.ts'
import type { Simulation } from '../simulator/simulate.ts'

export type Theme = 'auto' | 'light' | 'dark'

interface PageState {
  readonly charts: readonly PageChart[]
  readonly chart: PageChart
  readonly input: unknown
  readonly simulation: Simulation | null
  /** Why the chart does not begin as it is. */
  readonly unbegun: string | null
  /** Why the last wish was not carried out. */
  readonly problem: string | null
  readonly theme: Theme
  /** 0: as wide as its place. */
  readonly zoom: number
}

/** What the page shows, and how it changes. What a chart does is asked of the server that has the chart. */
export function createPageStore(charts: readonly PageChart[], first: PageChart) {
  const initial: PageState = {
    charts,
    chart: first,
    input: first.input,
    ...begun(first),
    problem: null,
    theme: 'auto',
    zoom: zoomFor(first),
  }
  return createStore({
    context: initial,
    on: {
      choose: (state, { chart }: { chart: PageChart }) => ({
        ...state,
        chart,
        input: chart.input,
        ...begun(chart),
        problem: null,
        zoom: zoomFor(chart),
      }),
      simulated: (state, { simulation, input }: { simulation: Simulation; input: unknown }) => ({
        ...state,
        simulation,
        input,
        problem: null,
      }),
      failed: (state, { problem }: { problem: string }) => ({ ...state, problem }),
      theme: (state, { theme }: { theme: Theme }) => ({ ...state, theme }),
      zoom: (state, { zoom }: { zoom: number }) => ({ ...state, zoom }),
    },
  })
}

export type PageStore = ReturnType<typeof createPageStore>

function begun({ beginning }: PageChart): Pick<PageState, 'simulation' | 'unbegun'> {
  return 'simulation' in beginning
    ? { simulation: beginning.simulation, unbegun: null }
    : { simulation: null, unbegun: beginning.message }
}

/** Below this share of its size nobody can read a chart. */
const readable = 0.6
/** What stands beside the drawing on a wide screen, in pixels. */
const besideWidth = 430

/** A chart begins as a whole where it can be read so; otherwise in its full size, at what is active. */
function zoomFor({ drawing }: PageChart): number {
  if (!('svg' in drawing)) return 0
  const width = Number(/viewBox="0 0 ([\d.]+)/.exec(drawing.svg)?.[1] ?? 0)
  const place = innerWidth > 2 * besideWidth ? innerWidth - besideWidth : innerWidth
  return width * readable > place ? 1 : 0
}

/** Events that have been played so far. */
export function playedEvents({ simulation }: PageState): readonly SimulatedEvent[] {
  return (simulation?.steps ?? []).flatMap(({ event }) => event ?? [])
}

/** Plays these events from the beginning. */
export async function play(store: PageStore, events: readonly SimulatedEvent[], input?: unknown): Promise<void> {
  const { chart, input: before } = store.getSnapshot().context
  const given = input === undefined ? before : input
  const wanted: SimulateRequest = { chart: chart.name, input: given, events }
  try {
    const response = await fetch('simulate', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(wanted),
    })
    const answer = (await response.json()) as SimulateAnswer
    // Somebody may have turned to another chart meanwhile.
    if (store.getSnapshot().context.chart !== chart) return
    if ('simulation' in answer) store.trigger.simulated({ simulation: answer.simulation, input: given })
    else store.trigger.failed({ problem: `${answer.code}: ${answer.message}` })
  } catch {
    store.trigger.failed({
      problem: 'The process that serves this page has ended. Start landfall machines --open again.',
    })
  }
}
