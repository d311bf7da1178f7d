import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ownCharts } from '../../src/inspector/simulator/own-charts.ts'
import type { SimulatedEvent } from '../../src/inspector/simulator/play-event.ts'
import { callInput } from '../../src/inspector/simulator/sample-call.ts'
import { taskInput } from '../../src/inspector/simulator/sample-task.ts'
import { simulate } from '../../src/inspector/simulator/simulate.ts'
import { commandBodies } from '../../src/runtime/command-bodies.ts'
import { doorMachine } from './door-chart.ts'
import { chartOf, commandOf, newest, play } from './play-chart.ts'

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
  const missing = Object.keys(commandBodies).filter((name) => !offered.includes(name))
  expect(missing).toEqual(['memoryPut', 'memoryRemove'])
})

describe('a command that is played', () => {
  it('starts a turn as far as the request to the model, and then no other', () => {
    const started = play(chartOf('session'), ['start'])
    expect(newest(started)).toMatchObject({
      accepted: true,
      asked: [{ type: 'sendRequest', params: { task: 'task-1' } }],
      value: { foreground: 'active' },
    })
    expect(newest(started)?.receipt).toEqual({
      command: 'start',
      result: 'applied',
      code: null,
      message: null,
      drafted: ['task.created', 'task.started', 'message.added', 'context.accounted', 'model.requested'],
    })
    const twice = play(chartOf('session'), ['start', 'start'])
    expect(newest(twice)?.receipt).toMatchObject({ result: 'refused', code: 'SESSION_BUSY' })
  })

  it('ends a turn at once that only waits for the model, and shows what ends with it', () => {
    const cancelled = play(chartOf('task'), [...begun, 'cancel'])
    expect(newest(cancelled)?.receipt).toMatchObject({
      result: 'applied',
      drafted: ['task.cancelling', 'model.abandoned', 'task.quiescing', 'task.cancelled'],
    })
    expect(newest(cancelled)?.value).toEqual({ terminal: 'cancelled' })
    expect(newest(cancelled)?.asked.map(({ type }) => type)).toEqual(['abortRequest'])
    expect(newest(cancelled)?.took.length).toBeGreaterThan(2)
  })

  it('waits for a call that runs', () => {
    const acting = [
      ...begun,
      'model.completed (asks for a call)',
      'call.requested (call-0-1)',
      'call.started (call-0-1)',
    ]
    const cancelled = play(chartOf('task'), [...acting, 'cancel'])
    expect(newest(cancelled)?.receipt?.drafted).toEqual(['task.cancelling', 'call.aborting', 'task.quiescing'])
    expect(newest(cancelled)?.value).toBe('quiescing')
    expect(newest(cancelled)?.asked.map(({ type }) => type)).toEqual(['abortCall'])
    const late = play(chartOf('task'), [...acting, 'cancel', 'cancel'])
    expect(newest(late)?.receipt).toMatchObject({ result: 'joined' })
  })

  it('steers, pauses and resumes a turn that runs', () => {
    expect(newest(play(chartOf('task'), [...begun, 'steer']))?.receipt).toMatchObject({ result: 'queued' })
    const interrupted = newest(play(chartOf('task'), [...begun, 'steer (interrupts)']))
    expect(interrupted?.receipt?.drafted).toContain('model.abandoned')
    expect(interrupted?.asked.map(({ type }) => type)).toEqual(['abortRequest', 'sendRequest'])
    const paused = play(chartOf('task'), [...begun, 'pause', 'resume (operator, resume)'])
    expect(newest(paused)?.receipt).toMatchObject({ code: null, drafted: expect.arrayContaining(['pause.settled']) })
  })

  it('settles a confirmation that a call waits for, and acknowledges a call of which nobody knows', () => {
    for (const [answer, begin] of [
      ['allow', ['pause.settled', 'task.resumed', 'call.started']],
      ['deny', ['pause.settled', 'call.refused', 'task.resumed']],
    ] as const) {
      const confirmed = play(chartOf('call'), ['call.held', `confirm (call-1, ${answer})`])
      expect(newest(confirmed)?.receipt).toMatchObject({ result: 'applied' })
      expect(newest(confirmed)?.receipt?.drafted.slice(0, 3)).toEqual(begin)
    }
    const input = { ...callInput, data: { ...callInput.data, effect: 'mutate' } }
    const known = play(chartOf('call'), ['call.started', 'call.unknown', 'acknowledge'], input)
    expect(newest(known)?.receipt).toMatchObject({ result: 'applied', drafted: ['mutation.acknowledged'] })
    const twice = play(chartOf('call'), ['call.started', 'call.unknown', 'acknowledge', 'acknowledge'], input)
    expect(newest(twice)?.receipt).toMatchObject({ result: 'refused', code: 'NOT_QUARANTINED' })
    // What may be repeated is no danger, and nobody has to acknowledge it.
    const harmless = play(chartOf('call'), ['call.started', 'call.unknown', 'acknowledge'])
    expect(newest(harmless)?.receipt).toMatchObject({ result: 'refused', code: 'NOT_QUARANTINED' })
  })

  it('makes something of its own each time', () => {
    const spawned = play(chartOf('task'), [...begun, 'spawn (below it)', 'spawn (below it)'])
    expect(spawned.steps.slice(-2).map(({ receipt }) => receipt?.result)).toEqual(['applied', 'applied'])
    expect(newest(spawned)?.context).toMatchObject({ descendants: { 'task-2': true, 'task-3': true } })
  })

  it('waits until what a runtime does in the same step is played', () => {
    const middle = play(chartOf('task'), ['task.started', 'pause'])
    expect(middle.due).toBe('model.requested')
    expect(newest(middle)?.receipt).toMatchObject({ result: 'refused', code: 'INVALID_INPUT' })
    expect(newest(middle)?.receipt?.message).toContain('model.requested')
    const rests = play(chartOf('task'), [...begun, 'pause'])
    expect([rests.due, newest(rests)?.receipt?.result]).toEqual([null, 'applied'])
  })

  it('finds around the chart what a runtime would have put there', () => {
    const drafted = (chart: string, labels: readonly string[]) =>
      newest(play(chartOf(chart), labels))?.receipt?.drafted ?? []
    const called = [...begun, 'model.completed (asks for a call)', 'call.requested (call-0-1)']
    const finished = [
      ...called,
      'call.started (call-0-1)',
      'call.finished (call-0-1 succeeded)',
      'model.requested (the turn)',
    ]
    expect(drafted('task', ['unblock'])).toEqual(['task.unblocked'])
    expect(drafted('task', ['task.blocked', 'unblock']).slice(0, 4)).toEqual([
      'task.unblocked',
      'task.started',
      'message.added',
      'message.added',
    ])
    expect(drafted('task', [...called, 'call.started (call-0-1)', 'cancel'])).toContain('call.aborting')
    expect(drafted('task', [...finished, 'cancel'])).toEqual([
      'task.cancelling',
      'model.abandoned',
      'task.quiescing',
      'task.cancelled',
    ])
    const child = ['task.cancelling', 'model.abandoned', 'task.quiescing', 'task.cancelled']
    expect(drafted('group', ['task.created (task-1)', 'cancelGroup'])).toEqual(['group.cancelled', ...child])
    const both = drafted('task', [...begun, 'task.created (a child)', 'cancel'])
    expect(both.filter((type) => type === 'task.cancelled')).toHaveLength(2)
  })

  it('knows the parent and the group of a task that begins otherwise', () => {
    for (const of of [{ parent: 'task-0', propagate: 'cascade' }, { group: 'group-1' }]) {
      const data = {
        ...taskInput.data,
        kind: 'background',
        origin: 'spawn',
        requires: 'none',
        predecessor: undefined,
        ...of,
      }
      const cancelled = play(chartOf('task'), [...begun, 'cancel'], { ...taskInput, data })
      expect(newest(cancelled)?.receipt?.drafted).toContain('task.cancelled')
    }
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
    ['no object', null],
  ])('with %s is none', (_what, command) => {
    const events = [commandOf(command as object)]
    expect(() => simulate(chartOf('session'), { events })).toThrowError(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    )
  })

  it.each([
    ['nothing of what it needs', { name: 'start' }, 'INVALID_INPUT'],
    ['a word too many', { name: 'start', input: 'x', task: 'task-1' }, 'INVALID_INPUT'],
    ['words of another kind', { name: 'close', cancel: 'yes' }, 'INVALID_INPUT'],
    [
      'a level that there is not',
      { name: 'reduceGrant', task: 'task-1', id: 'x', grant: { level: 'god' } },
      'INVALID_INPUT',
    ],
    ['more than may be said at once', { name: 'start', input: 'x'.repeat(17 * 2 ** 20) }, 'LIMIT_EXCEEDED'],
    ['a parent that there is not', { name: 'spawn', input: 'x', propagate: 'isolate', parent: 'nobody' }, 'NOT_FOUND'],
    ['a group that there is not', { name: 'spawn', input: 'x', propagate: 'isolate', group: 'nobody' }, 'NOT_FOUND'],
    [
      'a credential as its key',
      { name: 'spawn', input: 'x', propagate: 'isolate', idempotencyKey: `sk-ant-${'a1B2'.repeat(12)}` },
      'INVALID_INPUT',
    ],
  ])('with %s is refused', (_what, command, code) => {
    const { steps } = simulate(chartOf('session'), { events: [commandOf(command)] })
    expect(steps.at(-1)?.receipt).toMatchObject({ result: 'refused', code, drafted: [] })
    expect(steps.at(-1)?.value).toEqual(steps[0]?.value)
  })
})

it('a chart of a user has its events, and no commands', () => {
  const chart = { name: 'door', machine: doorMachine }
  expect(simulate(chart, { events: [] }).commands).toEqual([])
})

it('whatever is played by hand before, a command is answered, and leads to no state that the chart does not have', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ownCharts), fc.array(fc.nat(), { minLength: 1, maxLength: 14 }), (chart, picks) => {
      let events: readonly SimulatedEvent[] = []
      for (const pick of picks) {
        const { commands, choices } = simulate(chart, { events })
        const offers = [...choices.map(({ event }) => event), ...commands.map(({ command }) => commandOf(command))]
        const event = offers[pick % Math.max(1, offers.length)]
        if (event !== undefined) events = [...events, event]
      }
      for (const { receipt, accepted, error } of simulate(chart, { events }).steps) {
        expect(error).toBeUndefined()
        if (receipt === undefined) continue
        expect(accepted).toBe(receipt.result !== 'refused')
        expect(receipt.code === null || /^[A-Z_]+$/.test(receipt.code)).toBe(true)
      }
    }),
    { seed: 7, numRuns: 40 },
  )
})
