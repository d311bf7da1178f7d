import { describe, expect, it, vi } from 'vitest'
import { type AnyStateMachine, assign, createMachine, setup } from 'xstate'
import { chartEdges } from '../../src/inspector/chart-edges.ts'
import { ownCharts, type ShownChart } from '../../src/inspector/simulator/own-charts.ts'
import type { SimulatedEvent } from '../../src/inspector/simulator/play-event.ts'
import { type Simulation, simulate } from '../../src/inspector/simulator/simulate.ts'
import { doorMachine } from './door-chart.ts'

vi.setConfig({ testTimeout: 60_000 })

const chartOf = (name: string) => ownCharts.find((chart) => chart.name === name) as ShownChart
const shown = (machine: AnyStateMachine): ShownChart => ({ name: machine.id, machine })

/** Plays the choices with these labels, one after the other. */
function playLabels(chart: ShownChart, labels: readonly string[]): Simulation {
  let events: readonly SimulatedEvent[] = []
  for (const label of labels) {
    const choice = simulate(chart, { events }).choices.find((each) => each.label === label)
    if (choice === undefined) throw new Error(`${label} is not offered`)
    events = [...events, choice.event]
  }
  return simulate(chart, { events })
}

const newest = ({ steps }: Simulation) => steps.at(-1)

describe('a simulated chart of its own', () => {
  it('a turn with a call, by clicks alone', () => {
    const turn = playLabels(chartOf('task'), [
      'task.started',
      'model.requested (the turn)',
      'model.completed (asks for a call)',
      'call.requested (call-0-1)',
      'call.started (call-0-1)',
      'call.finished (call-0-1 succeeded)',
      'model.requested (the turn)',
      'model.completed (final answer)',
      'task.completed',
    ])
    expect(turn.steps.map(({ value }) => value)).toEqual([
      { pending: 'queued' },
      { running: { boundary: 'ready' } },
      { running: 'requesting' },
      { running: 'acting' },
      { running: 'acting' },
      { running: 'acting' },
      { running: { boundary: 'ready' } },
      { running: 'requesting' },
      { running: { boundary: 'ready' } },
      { terminal: 'completed' },
    ])
    expect(turn.steps[2]?.asked).toEqual([{ type: 'sendRequest', params: { task: 'task-1' } }])
    expect(newest(turn)?.active).toEqual(['task', 'task.terminal', 'task.terminal.completed'])
  })

  it('names the guards that refused, in the order in which they were asked', () => {
    const early = playLabels(chartOf('task'), [
      'task.started',
      'model.requested (the turn)',
      'model.abandoned',
      'task.completed',
    ])
    expect(newest(early)).toMatchObject({ accepted: false, value: { running: { boundary: 'ready' } }, asked: [] })
    expect(newest(early)?.refused).toEqual([
      { edge: 'task.running.boundary task.completed #1', state: 'task.running.boundary', guard: 'isDescendants' },
      { edge: 'task.running.boundary task.completed #2', state: 'task.running.boundary', guard: 'mayComplete' },
      { edge: 'task.running task.completed', state: 'task.running', guard: 'isDescendants' },
    ])
  })

  it('moves regions side by side, and eventless transitions behind them', () => {
    const blocked = playLabels(chartOf('session'), [
      'task.created (start)',
      'task.started (task-1)',
      'task.created (follow_up, requires success)',
      'task.failed (task-1)',
      'task.blocked (task-3)',
    ])
    expect(newest(blocked)?.value).toMatchObject({ foreground: 'idle', queue: 'blocked' })
    expect(newest(blocked)?.took).toContain('session.queue.clear always')
    const again = playLabels(chartOf('call'), ['call.started', 'call.interrupted', 'call.started'])
    expect(newest(again)?.asked).toEqual([
      { type: 'performCall', params: { task: 'task-1', call: 'call-1', attempt: 2 } },
    ])
  })

  it.each([
    [
      'session',
      [
        'task.created (start)',
        'task.started (task-1)',
        'task.created (follow_up)',
        'mutation.quarantined',
        'mutation.quarantined',
        'mutation.acknowledged (call-1)',
        'mutation.acknowledged (all)',
        'task.completed (task-1)',
        'task.cancelled (task-3)',
        'session.closing (close)',
        'session.closed',
        'session.closing (erase)',
        'session.erased',
      ],
    ],
    [
      'task',
      [
        'task.started',
        'model.requested (the turn)',
        'model.completed (asks for a call)',
        'call.requested (call-0-1)',
        'call.held (call-0-1)',
        'pause.requested (call-0-1)',
        'task.paused',
        'pause.settled (pause-call-0-1, approve)',
        'task.resumed',
        'call.started (call-0-1)',
        'task.cancelling (to be cancelled)',
        'call.aborting (call-0-1)',
        'task.quiescing',
        'call.verifying (call-0-1)',
        'call.verified (call-0-1)',
        'call.unknown (call-0-1)',
        'task.cancelled',
      ],
    ],
    ['call', ['call.started', 'call.aborting', 'call.verifying', 'call.verified', 'call.unknown', 'call.late']],
  ])('leads %s through its life, and has every fact of its chart to click on the way', (name, labels) => {
    const chart = chartOf(name)
    const offered = new Set<string>()
    let events: readonly SimulatedEvent[] = []
    for (const label of labels) {
      const { choices } = simulate(chart, { events })
      for (const { event } of choices) offered.add(event.type)
      const choice = choices.find((each) => each.label === label)
      expect(choice, `${label} among ${choices.map((each) => each.label).join(', ')}`).toMatchObject({ leads: 'on' })
      events = choice === undefined ? events : [...events, choice.event]
    }
    for (const { event } of simulate(chart, { events }).choices) offered.add(event.type)
    const all = new Set(chartEdges(chart.machine).flatMap(({ event }) => event ?? []))
    expect([...all].filter((type) => !offered.has(type))).toEqual([])
  })
})

describe('a simulated chart of a user', () => {
  it('offers its events, timers and ends of what it invokes, and executes nothing', () => {
    const { choices } = simulate(shown(doorMachine), { events: [] })
    expect(choices.map(({ label, leads }) => [label, leads])).toEqual([
      ['RESET', 'on'],
      ['BACK', 'on'],
      ['KNOCK', 'nowhere'],
      ['xstate.done.actor.loading', 'on'],
      ['xstate.error.actor.loading', 'on'],
      ['xstate.after.500.door.out', 'on'],
      ['xstate.after.patience.door.out', 'nowhere'],
    ])
    const begun = simulate(shown(doorMachine), { events: [{ type: 'xstate.done.actor.loading' }] })
    expect(newest(begun)).toMatchObject({
      value: { in: { hall: 'standing' } },
      took: ['door.out xstate.done.actor.loading'],
    })
    expect(begun.steps[0]?.asked).toMatchObject([
      { type: 'xstate.raise' },
      { type: 'xstate.raise' },
      { type: 'xstate.spawnChild' },
    ])
  })

  it('takes events with what they carry, also by wildcard', () => {
    const by = (name: string) => newest(simulate(shown(doorMachine), { events: [{ type: 'KNOCK', by: name }] }))
    expect(by('eve')).toMatchObject({ accepted: false, refused: [{ state: 'door.out', guard: 'isKnown' }] })
    expect(by('ada')).toMatchObject({ accepted: true, value: { in: { hall: 'standing' } } })
    expect(newest(simulate(shown(doorMachine), { events: [{ type: 'PING.far' }] }))).toMatchObject({
      accepted: true,
      took: ['door PING.*'],
      asked: [{ type: 'ring', params: null }],
    })
    expect(newest(simulate(shown(doorMachine), { events: [{ type: 'nobody' }] }))).toMatchObject({
      accepted: false,
      refused: [],
    })
  })

  it('shows a guard that throws, and goes on from where it was', () => {
    const odd = setup({
      guards: {
        broken: () => {
          throw new Error('no such thing')
        },
      },
    }).createMachine({ initial: 'a', states: { a: { on: { GO: { guard: 'broken', target: 'b' }, ON: 'b' } }, b: {} } })
    const { steps, choices } = simulate(shown(odd), { events: [{ type: 'GO' }] })
    expect(steps.at(-1)).toMatchObject({ value: 'a', accepted: false })
    expect(steps.at(-1)?.error).toContain('no such thing')
    expect(choices).toMatchObject([
      { label: 'GO', leads: 'error' },
      { label: 'ON', leads: 'on' },
    ])
  })

  it('begins with an input, and says when it cannot', () => {
    const chart = setup({
      types: { context: {} as { left: number }, input: {} as { wish: { count: number } } },
    }).createMachine({
      context: ({ input }) => ({ left: input.wish.count }),
      on: {
        TAKE: {
          guard: ({ context }) => context.left > 0,
          actions: assign({ left: ({ context }) => context.left - 1 }),
        },
      },
    })
    expect(() => simulate(shown(chart), { events: [] })).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
    const take = { type: 'TAKE' }
    const played = simulate(shown(chart), { events: [take, take], input: { wish: { count: 1 } } })
    expect(played.steps.map(({ accepted, context }) => [accepted, context])).toEqual([
      [true, { left: 1 }],
      [true, { left: 0 }],
      [false, { left: 0 }],
    ])
  })

  it('nothing more happens after an end, and there is a bound', () => {
    const ended = simulate(
      shown(createMachine({ initial: 'a', states: { a: { on: { GO: 'b' } }, b: { type: 'final' } } })),
      {
        events: [{ type: 'GO' }, { type: 'GO' }],
      },
    )
    expect(ended.choices).toEqual([])
    expect(newest(ended)).toMatchObject({ status: 'done', accepted: false })
    const many = Array.from({ length: 1_001 }, () => ({ type: 'GO' }))
    expect(() => simulate(shown(doorMachine), { events: many })).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED' }),
    )
  })
})

describe('a chart that goes in circles', () => {
  const always = (target: string) => ({ always: { target } })
  const states = { rest: { on: { GO: 'here' } }, here: always('there'), there: always('here') }

  it('is stopped, and says so, for the event that begins it', () => {
    const circles = shown(createMachine({ id: 'circles', initial: 'rest', states }))
    expect(simulate(circles, { events: [] }).choices).toMatchObject([{ label: 'GO', leads: 'error' }])
    const step = newest(simulate(circles, { events: [{ type: 'GO' }] }))
    expect(step).toMatchObject({ accepted: false, value: 'rest', error: expect.stringMatching(/Infinite loop/) })
  })

  it('is refused when it does so from the beginning', () => {
    const circles = shown(createMachine({ id: 'circles', initial: 'here', states }))
    expect(() => simulate(circles, { events: [] })).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringMatching(/cannot begin.*Infinite loop/) }),
    )
  })
})
