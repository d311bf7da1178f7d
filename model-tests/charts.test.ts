import { describe, expect, it } from 'vitest'
import { type AnyStateMachine, assign, fromPromise, setup } from 'xstate'
import type { Fact } from '../machines/facts.ts'
import { chartEdges } from '../src/inspector/chart-edges.ts'
import { audit } from './graph/audit.ts'
import { callJourney } from './graph/call-journey.ts'
import { groupJourney } from './graph/group-journey.ts'
import { sampleFact } from './graph/sample-fact.ts'
import { sessionJourney } from './graph/session-journey.ts'
import { taskJourney } from './graph/task-journey.ts'
import { type Journey, type Walked, walk } from './graph/walk.ts'

const journeys = [sessionJourney, taskJourney, callJourney, groupJourney]

function watched(journey: Journey): Walked & { readonly problems: readonly string[] } {
  const { visit, problems } = audit()
  const walked = walk(journey, visit)
  return { ...walked, problems: [...problems] }
}

describe('every chart, walked breadth first over facts with payloads', () => {
  it.each(journeys.map((journey) => [journey.machine.id, journey] as const))(
    '%s: every state and every guarded transition is reached, by pure steps that fold once',
    { timeout: 120_000 },
    (id, journey) => {
      const { nodes, edges, states, offered, accepted, ...found } = watched(journey)
      const coverage = [
        `${nodes.length - found.unvisitedNodes.length}/${nodes.length} states`,
        `${edges.length - found.unvisitedEdges.length}/${edges.length} transitions`,
      ]
      console.log(`${id}: ${coverage.join(', ')}; ${offered} facts in ${states} situations, ${accepted} accepted`)
      expect(found).toEqual({ unvisitedNodes: [], unvisitedEdges: [], problems: [] })
    },
  )

  it.each(journeys.map(({ machine }) => [machine.id, machine] as const))(
    '%s: each transition of a fact folds it, and no eventless one does',
    (_id, machine) => {
      const edges = chartEdges(machine)
      expect(edges.length).toBeGreaterThan(10)
      expect(edges.filter(({ event, actions }) => actions.includes('fold') !== (event !== null))).toEqual([])
    },
  )
})

describe('the walk notices', () => {
  const chart = setup({
    types: { context: {} as { seq: number; noise: number[] }, events: {} as Fact },
    actions: { fold: assign({ seq: ({ event }) => event.seq }), ask: (_, _params: { at: number }) => {} },
    guards: { never: () => false },
    actors: { work: fromPromise(async () => 1) },
  })
  const context = () => ({ seq: 1, noise: [] })
  const walkOf = (machine: AnyStateMachine, statesMax = 10) =>
    watched({
      machine,
      births: [sampleFact('session.opened')],
      alphabets: [() => [sampleFact('session.closed'), sampleFact('session.reopened')]],
      project: (snapshot) => snapshot.value,
      statesMax,
    })
  const twoStates = (closed: object, reopened: object = { target: 'a', actions: 'fold' }) =>
    chart.createMachine({
      id: 'toy',
      context,
      initial: 'a',
      states: { a: { on: { 'session.closed': closed } }, b: { on: { 'session.reopened': reopened } } },
    })

  it('nothing in a sound chart', () => {
    const found = walkOf(twoStates({ target: 'b', actions: 'fold' }))
    expect(found).toMatchObject({
      states: 2,
      offered: 4,
      accepted: 2,
      unvisitedNodes: [],
      unvisitedEdges: [],
      problems: [],
    })
  })

  it('states and transitions that nothing leads to', () => {
    const found = walkOf(twoStates({ guard: 'never', target: 'b', actions: 'fold' }))
    expect(found.unvisitedNodes).toEqual(['toy.b'])
    expect(found.unvisitedEdges).toEqual(['toy.a session.closed [never] → toy.b', 'toy.b session.reopened → toy.a'])
  })

  it('a transition that does not fold', () => {
    expect(walkOf(twoStates({ target: 'b' })).problems[0]).toContain('folded 0 times')
  })

  it('a step that gives two results, or that changes what was given to it', () => {
    let count = 0
    const asks = { type: 'ask', params: () => ({ at: ++count }) }
    expect(walkOf(twoStates({ target: 'b', actions: ['fold', asks] })).problems.join()).toContain('differ')
    const spoils = assign(({ context: at }: { context: { noise: number[] } }) => {
      at.noise.push(1)
      return {}
    })
    expect(walkOf(twoStates({ target: 'b', actions: ['fold', spoils] })).problems.join()).toContain('was changed')
  })

  it('an actor', () => {
    const machine = chart.createMachine({
      context,
      initial: 'a',
      states: {
        a: { on: { 'session.closed': { target: 'b', actions: 'fold' } } },
        b: { invoke: { src: 'work' } },
      },
    })
    expect(walkOf(machine).problems.join()).toMatch(/an actor (lives|was spawned)/)
  })

  it.each([
    ['isNextAttempt', callJourney, 0, 'an attempt out of turn'],
    ['mayRepeat', callJourney, 0, 'a change would be repeated'],
    ['isNextTurn', sessionJourney, 0, 'a start while the session closes'],
    ['mayErase', sessionJourney, 0, 'erased with tasks'],
    ['mayComplete', taskJourney, 1, 'over pending steering'],
    ['concludes', taskJourney, 1, 'ended while a call or a descendant lives'],
    ['isOver', groupJourney, 0, 'resolved while a member lives'],
    ['isSpawn', sessionJourney, 1, 'a child of what is not at work'],
  ] as const)('a guard that always says yes: %s', { timeout: 60_000 }, (guard, journey, alphabet, problem) => {
    const machine: AnyStateMachine = journey.machine.provide({ guards: { [guard]: () => true } })
    const alphabets = journey.alphabets.slice(alphabet, alphabet + 1)
    expect(watched({ ...journey, machine, alphabets }).problems.join()).toContain(problem)
  })

  it('a walk without an end', () => {
    expect(() => walkOf(twoStates({ target: 'b', actions: 'fold' }), 1)).toThrow('more than 1 states')
  })
})
