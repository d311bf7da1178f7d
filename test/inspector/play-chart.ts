import { commandType } from '../../src/inspector/simulator/command-receipt.ts'
import { ownCharts, type ShownChart } from '../../src/inspector/simulator/own-charts.ts'
import type { SimulatedEvent } from '../../src/inspector/simulator/play-event.ts'
import { type Simulation, simulate } from '../../src/inspector/simulator/simulate.ts'

export const chartOf = (name: string) => ownCharts.find((chart) => chart.name === name) as ShownChart
export const commandOf = (command: object): SimulatedEvent => ({ type: commandType, command })

/** Plays what has these labels: a command where one has it, else a fact. */
export function play(chart: ShownChart, labels: readonly string[], input: unknown = chart.input): Simulation {
  let events: readonly SimulatedEvent[] = []
  for (const label of labels) {
    const { commands, choices } = simulate(chart, { events, input })
    const command = commands.find((each) => each.label === label)
    const event =
      command === undefined ? choices.find((each) => each.label === label)?.event : commandOf(command.command)
    if (event === undefined) throw new Error(`${label} is not offered`)
    events = [...events, event]
  }
  return simulate(chart, { events, input })
}

export const newest = ({ steps }: Simulation) => steps.at(-1)
