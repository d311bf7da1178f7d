import { describe, expect, it } from 'vitest'
import type { Fact, FactType } from '../machines/facts.ts'
import {
  callMachine,
  chartless,
  emptyWorld,
  fold,
  groupMachine,
  route,
  sessionMachine,
  taskMachine,
  type World,
} from '../machines/public.ts'
import { factSchemas } from '../src/facts/schemas.ts'
import { chartEdges } from '../src/inspector/chart-edges.ts'
import { sampleFact } from './graph/sample-fact.ts'

const types = Object.keys(factSchemas) as FactType[]
const charts = [sessionMachine, taskMachine, callMachine, groupMachine]

/** Charts that a fact of this type creates. A birth is no transition. */
const births: Readonly<Partial<Record<FactType, string>>> = {
  'session.opened': 'session',
  'task.created': 'task',
  'call.requested': 'call',
  'group.created': 'group',
}

function accepting(type: FactType): readonly string[] {
  const handling = charts
    .filter((machine) => chartEdges(machine).some(({ event }) => event === type))
    .map(({ id }) => id)
  const born = births[type]
  return [...new Set([...handling, ...(born === undefined ? [] : [born])])].sort()
}

/** Where the task belongs to a group, as far as routing reads of it. */
function withMember(): World {
  const world = emptyWorld()
  fold(world, sampleFact('session.opened'))
  fold(world, sampleFact('group.created', { group: 'G' }))
  fold(world, sampleFact('task.created', { kind: 'background', origin: 'spawn', group: 'G' }, { task: 'T' }))
  return world
}

function offered(type: FactType): readonly string[] {
  const given = type === 'task.created' ? { group: 'G' } : {}
  const fact: Fact = sampleFact(type, given as never, {
    task: 'T',
    call: type.startsWith('call.') ? 'C' : null,
  }) as Fact
  return [...new Set(route(withMember(), fact).map(({ chart }) => chart as string))].sort()
}

describe('routing', () => {
  it.each(types)('%s is offered to exactly the charts that have a transition for it', (type) => {
    expect(offered(type)).toEqual(accepting(type))
  })

  it('every type concerns a chart or is listed as folded without one, never both', () => {
    const silent = types.filter((type) => accepting(type).length === 0)
    expect([...chartless].sort()).toEqual(silent.sort())
  })

  it('charts handle no event that is not a fact', () => {
    const events = charts.flatMap((machine) => chartEdges(machine).flatMap(({ event }) => event ?? []))
    expect(events.filter((event) => !Object.hasOwn(factSchemas, event))).toEqual([])
  })

  it('a fact of an unknown task or call is refused', () => {
    const world = emptyWorld()
    const refused = fold(world, sampleFact('call.started', {}, { task: 'T', call: 'C' }))
    expect(refused.refusedBy).toEqual({ chart: 'task', id: 'T' })
    expect(world).toEqual(emptyWorld())
  })
})
