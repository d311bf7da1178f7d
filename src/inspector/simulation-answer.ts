import { errorCode, isLandfallError } from '../facts/errors.ts'
import { defaultRedactor } from '../redaction/default-redactor.ts'
import type { SimulateAnswer } from './page-data.ts'
import type { ShownChart } from './simulator/own-charts.ts'
import type { SimulatedEvent, SimulatedStep } from './simulator/play-event.ts'
import { simulate } from './simulator/simulate.ts'

const redactor = defaultRedactor()

/**
 * What the page is told of a simulation. Data and messages of a user's chart pass the redactor, as what goes wrong with its module
 * does. Names of states, events, guards and actions stay: they are the drawing, and the page finds its way by them. So do the
 * events that were played, since the page sends them again.
 */
export function simulationAnswer(
  chart: ShownChart,
  played: { readonly events: readonly SimulatedEvent[]; readonly input?: unknown },
): SimulateAnswer {
  try {
    const simulation = simulate(chart, played)
    // Our own charts hold examples, whose tokens are there to be read.
    return { simulation: isOwn(chart) ? simulation : { ...simulation, steps: simulation.steps.map(cleanStep) } }
  } catch (error) {
    return problemAnswer(error)
  }
}

export function problemAnswer(error: unknown): Extract<SimulateAnswer, { readonly code: string }> {
  const message = isLandfallError(error) ? error.message : 'The chart could not be simulated.'
  return { code: errorCode(error), message: redactor.text(message) }
}

function isOwn({ samples }: ShownChart): boolean {
  return samples !== undefined
}

function cleanStep(step: SimulatedStep): SimulatedStep {
  return {
    ...step,
    context: clean(step.context),
    asked: step.asked.map(({ type, params }) => ({ type, params: clean(params) })),
    ...(step.error === undefined ? {} : { error: redactor.text(step.error) }),
  }
}

function clean(value: unknown): unknown {
  try {
    return redactor.value(value)
  } catch {
    return '[cannot be shown safely]'
  }
}
