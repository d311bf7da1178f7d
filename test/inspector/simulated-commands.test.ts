import { describe, expect, it, onTestFinished } from 'vitest'
import { waitFor } from 'xstate'
import type { Receipt, Session } from '../../src/index.ts'
import { commandType } from '../../src/inspector/simulator/command-receipt.ts'
import { ownCharts, type ShownChart } from '../../src/inspector/simulator/own-charts.ts'
import type { SimulatedEvent } from '../../src/inspector/simulator/play-event.ts'
import { type Simulation, simulate } from '../../src/inspector/simulator/simulate.ts'
import { commandBodies } from '../../src/runtime/command-bodies.ts'
import { askTool, gate, heldTool, runtimeWith, scope } from '../xstate/kit.ts'
import { doorMachine } from './door-chart.ts'

const chartOf = (name: string) => ownCharts.find((chart) => chart.name === name) as ShownChart
const commandOf = (command: object): SimulatedEvent => ({ type: commandType, command })

/** Plays what has these labels: a command where one has it, else a fact. */
function play(chart: ShownChart, labels: readonly string[]): Simulation {
  let events: readonly SimulatedEvent[] = []
  for (const label of labels) {
    const { commands, choices } = simulate(chart, { events })
    const command = commands.find((each) => each.label === label)
    const event =
      command === undefined ? choices.find((each) => each.label === label)?.event : commandOf(command.command)
    if (event === undefined) throw new Error(`${label} is not offered`)
    events = [...events, event]
  }
  return simulate(chart, { events })
}

const newest = ({ steps }: Simulation) => steps.at(-1)
const begun = ['task.started', 'model.requested (the turn)'] as const

describe.each(ownCharts.map((chart) => [chart.name, chart] as const))('a command of the %s chart', (_name, chart) => {
  it('is either accepted, with facts that are played, or refused with its code, as it was offered', () => {
    const { commands } = simulate(chart, { events: [] })
    expect(commands.length).toBeGreaterThan(3)
    for (const { label, command, refused } of commands) {
      const { steps } = simulate(chart, { events: [commandOf(command)] })
      const [before, after] = steps
      expect(after?.receipt?.code, label).toBe(refused)
      expect(after?.accepted, label).toBe(refused === null)
      expect(after?.receipt?.command).toBe(command.name)
      if (refused === null) expect(after?.receipt?.drafted.length, label).toBeGreaterThan(0)
      else {
        expect(refused).toMatch(/^[A-Z_]+$/)
        expect(after?.receipt?.message, label).toMatch(/\.$/)
        expect({ value: after?.value, context: after?.context }, label).toEqual({
          value: before?.value,
          context: before?.context,
        })
      }
    }
  })
})

it('every command that there is, except those about memory, is offered by some chart', () => {
  const offered = ownCharts.flatMap((chart) =>
    simulate(chart, { events: [] }).commands.map(({ command }) => command.name),
  )
  const missing = [...Object.keys(commandBodies), 'restore'].filter((name) => !offered.includes(name))
  expect(missing).toEqual(['memoryPut', 'memoryRemove'])
})

describe('a command that is played', () => {
  it('starts a turn, which the reader begins, and then no other', () => {
    const started = play(chartOf('session'), ['start'])
    expect(newest(started)).toMatchObject({ accepted: true, asked: [{ type: 'startTask' }] })
    expect(newest(started)?.receipt).toEqual({
      command: 'start',
      result: 'applied',
      code: null,
      message: null,
      drafted: ['task.created'],
    })
    const twice = play(chartOf('session'), ['start', 'task.started (task-1)', 'start'])
    expect(newest(twice)?.receipt).toMatchObject({ result: 'refused', code: 'SESSION_BUSY' })
  })

  it('cancels a turn that runs: it is cancelling, with what that asks for', () => {
    const cancelled = play(chartOf('task'), [...begun, 'cancel'])
    expect(newest(cancelled)?.receipt).toMatchObject({ result: 'applied', drafted: ['task.cancelling'] })
    expect(newest(cancelled)?.value).toBe('cancelling')
    expect(newest(cancelled)?.asked.map(({ type }) => type)).toContain('abortCalls')
    expect(newest(cancelled)?.took.length).toBeGreaterThan(0)
  })

  it('steers, pauses and resumes a turn that runs', () => {
    expect(newest(play(chartOf('task'), [...begun, 'steer']))?.receipt).toMatchObject({ result: 'queued' })
    const paused = play(chartOf('task'), ['task.started', 'pause'])
    expect(newest(paused)?.receipt?.drafted).toContain('pause.requested')
    const offered = paused.commands.filter(({ command, refused }) => command.name === 'resume' && refused === null)
    expect(offered.length).toBeGreaterThan(0)
    const resumed = play(chartOf('task'), ['task.started', 'pause', offered[0]?.label ?? ''])
    expect(newest(resumed)?.receipt).toMatchObject({ code: null, drafted: expect.arrayContaining(['pause.settled']) })
  })

  it('settles a confirmation that a call waits for, and acknowledges a call of which nobody knows', () => {
    for (const answer of ['allow', 'deny']) {
      const confirmed = play(chartOf('call'), ['call.held', `confirm (pause-1, ${answer})`])
      expect(newest(confirmed)?.receipt).toMatchObject({ result: 'applied', drafted: ['pause.settled'] })
      expect(newest(confirmed)?.asked.map(({ type }) => type)).toEqual(['followDecision'])
    }
    const known = play(chartOf('call'), ['call.started', 'call.unknown', 'acknowledge'])
    expect(newest(known)?.receipt).toMatchObject({ result: 'applied', drafted: ['mutation.acknowledged'] })
    const twice = play(chartOf('call'), ['call.started', 'call.unknown', 'acknowledge', 'acknowledge'])
    expect(newest(twice)?.receipt).toMatchObject({ result: 'refused', code: 'NOT_QUARANTINED' })
  })

  it('is undone by going back, since nothing is kept between two requests', () => {
    const once = play(chartOf('task'), [...begun])
    play(chartOf('task'), [...begun, 'cancel'])
    expect(play(chartOf('task'), [...begun])).toEqual(once)
  })
})

describe('a command that a reader wrote', () => {
  it.each([
    ['no name', {}],
    ['a name that there is not', { name: 'fly' }],
    ['nothing of what it needs', { name: 'start' }],
    ['a digest that is none', { name: 'start', request: { task: 'task-1', input: 'x', bytes: 1, request: 'x' } }],
    ['no object', null],
  ])('with %s is refused as a whole', (_what, command) => {
    const events = [commandOf(command as object)]
    expect(() => simulate(chartOf('session'), { events })).toThrowError(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    )
  })
})

it('a chart of a user has its events, and no commands', () => {
  const chart = { name: 'door', machine: doorMachine }
  expect(simulate(chart, { events: [] }).commands).toEqual([])
})

/** Commands of the session chart as an operator sends them. */
const sent: Readonly<Record<string, (session: Session) => Promise<Receipt>>> = {
  start: async (session) => (await session.start('x')).receipt,
  followUp: async (session) => (await session.followUp('x')).receipt,
  supersede: async (session) => (await session.supersede('x')).receipt,
  spawn: async (session) => (await session.spawn('x', { propagate: 'isolate' })).receipt,
  'cancel (the turn)': (session) => session.cancel(),
  'acknowledge (all)': (session) => session.acknowledge('all'),
  close: (session) => session.close(),
  erase: (session) => session.erase(),
  reopen: (session) => session.reopen(),
}

describe.each([
  ['an open session at rest', []],
  ['a session with a turn that runs', ['start', 'task.started (task-1)']],
] as const)('in %s', (_what, before) => {
  it.each(Object.keys(sent))('%s is answered as by a runtime', async (label) => {
    const held = gate()
    const runtime = await runtimeWith({ everyTurn: askTool('look') }, { catalog: [heldTool('look', held)] })
    onTestFinished(held.open)
    const session = runtime.session(scope)
    await session.memory.put('opened', true)
    // A turn with a call under way: what replaces it has something to wait for.
    if (before.length > 0)
      await waitFor((await session.start('first')).actor, (view) => view.matches({ running: 'acting' }))
    const real = await sent[label]?.(session).then(
      ({ result }) => ({ result, code: null }),
      ({ code }: { code: string }) => ({ result: 'refused', code }),
    )
    const { result, code } = newest(play(chartOf('session'), [...before, label]))?.receipt ?? {}
    expect({ result, code }).toEqual(real)
  })
})
