import { describe, expect, it } from 'vitest'
import { assign, createMachine, setup } from 'xstate'
import { simulationAnswer } from '../../src/inspector/simulation-answer.ts'
import { ownCharts, type ShownChart } from '../../src/inspector/simulator/own-charts.ts'

const key = `sk-ant-api03-${'a1B2'.repeat(10)}`

const login = setup({
  guards: {
    blows: () => {
      throw new Error(`guard blew ${key}`)
    },
  },
  actions: { tell: () => {} },
}).createMachine({
  id: 'login',
  context: { apiKey: 'plain words', password: 'hunter2', note: `it was ${key}`, tries: 1 },
  initial: 'password',
  states: {
    password: {
      on: {
        GO: { guard: 'blows', target: 'secret' },
        SAY: { target: 'secret', actions: [assign({ tries: 2 }), { type: 'tell', params: { token: 'abc', at: 3 } }] },
      },
    },
    secret: {},
  },
})

describe('what the page is told of a chart of a user', () => {
  it('holds no credential of its context, its actions or its errors', () => {
    const events = [{ type: 'GO' }, { type: 'SAY' }]
    const answer = simulationAnswer({ name: 'login', machine: login }, { events })
    expect(JSON.stringify(answer)).not.toMatch(/sk-ant|hunter2|plain words|abc/)
    expect(answer).toMatchObject({
      simulation: {
        steps: [
          { value: 'password', active: ['login', 'login.password'], context: { tries: 1 } },
          { event: events[0], error: expect.stringContaining('guard blew ') },
          {
            event: events[1],
            value: 'secret',
            took: ['login.password SAY'],
            asked: [{ type: 'tell', params: { at: 3 } }],
          },
        ],
      },
    })
  })

  it('says why a chart cannot begin, without a credential', () => {
    const machine = createMachine({
      id: 'm',
      context: () => {
        throw new Error(`no session for ${key}`)
      },
    })
    const answer = simulationAnswer({ name: 'm', machine }, { events: [] })
    expect(answer).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/cannot begin: no session for/),
    })
    expect(JSON.stringify(answer)).not.toContain(key)
  })

  it('has the examples of our own charts as they are', () => {
    const chart = ownCharts.find(({ name }) => name === 'call') as ShownChart
    const held = { ...(chart.samples?.({ context: { seq: 1, attempts: 0 } } as never) ?? [])[1]?.event }
    expect(held).toMatchObject({ type: 'call.held', data: { token: 'pause-1' } })
    const answer = simulationAnswer(chart, { events: [held as { type: string }] })
    expect(answer).toMatchObject({ simulation: { steps: [{}, { accepted: true, value: 'held' }] } })
  })
})

it.each(ownCharts.map((chart) => [chart.name, chart] as const))(
  'says what the first event of %s lacks when it is none',
  (_name, chart) => {
    const { type } = chart.input as { type: string }
    for (const [input, lacks] of [
      [{}, /lacks type, data, id, seq, step, at/],
      [{ type }, /lacks data, /],
      ['words', /lacks everything/],
    ] as const) {
      const answer = simulationAnswer(chart, { events: [], input })
      expect(answer).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringMatching(lacks) })
      expect(JSON.stringify(answer)).not.toContain('undefined')
    }
  },
)
