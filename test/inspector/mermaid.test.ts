import { describe, expect, it } from 'vitest'
import { and, createMachine, not, setup } from 'xstate'
import { callMachine, groupMachine, sessionMachine, taskMachine } from '../../machines/public.ts'
import { chartEdges, chartNodes } from '../../src/inspector/chart-edges.ts'
import { chartJson } from '../../src/inspector/chart-json.ts'
import { mermaidOf } from '../../src/inspector/mermaid.ts'
import { doorMachine } from './door-chart.ts'

const charts = [sessionMachine, taskMachine, callMachine, groupMachine]
const chart = setup({ actions: { ring: () => {}, fold: () => {} }, guards: { late: () => true, calm: () => true } })

const sample = chart.createMachine({
  id: 'sample',
  initial: 'a',
  states: {
    a: {
      entry: 'ring',
      on: {
        GO: [
          { guard: 'late', target: 'b.y', actions: ['fold', 'ring'] },
          { target: 'b', actions: 'fold' },
        ],
        NOTE: { actions: 'fold' },
        SEE: { actions: 'fold' },
      },
    },
    b: {
      initial: 'x',
      always: { guard: and(['calm', not('late')]), target: 'c' },
      on: { BACK: { target: '.x', actions: 'fold' }, LOOK: { actions: 'fold' } },
      states: { x: {}, y: {} },
    },
    c: { type: 'final' },
  },
})

/** Lines without indentation. */
const lines = (text: string) => text.split('\n').map((line) => line.trim())

describe('a chart as Mermaid text', () => {
  const drawn = lines(mermaidOf(sample))

  it('nests states, marks where they begin and end', () => {
    const at = (line: string) => drawn.indexOf(line)
    expect(drawn[0]).toBe('stateDiagram-v2')
    expect(at('state "b" as sample_b {')).toBeLessThan(at('state "x" as sample_b_x'))
    expect(at('state "x" as sample_b_x')).toBeLessThan(at('[*] --> sample_b_x'))
    expect(drawn).toContain('[*] --> sample_a')
    expect(drawn).toContain('sample_c --> [*]')
  })

  it('labels arrows with event, guard and actions, and leaves the bookkeeping out', () => {
    expect(drawn).toContain('sample_a --> sample_b_y : GO [late] / ring')
    expect(drawn).toContain('sample_a --> sample_b : GO [else]')
  })

  it('leaves no action out that only some transitions have', () => {
    const some = createMachine({ id: 's', on: { A: { actions: ['fold', 'ring'] }, B: { actions: 'ring' } } })
    expect(mermaidOf(some)).not.toContain('ring')
    expect(chartEdges(some)).toHaveLength(2)
    const parallel = createMachine({
      type: 'parallel',
      states: { a: { on: { A: { actions: 'fold' }, B: {} } }, b: {} },
    })
    expect(mermaidOf(parallel)).toContain('A / fold')
  })

  it('draws eventless transitions with combined guards', () => {
    expect(drawn).toContain('sample_b --> sample_c : always [and(calm, not(late))]')
  })

  it('writes what does not leave a state inside it, or beside it when it has children', () => {
    expect(drawn).toContain('sample_a : entry / ring')
    expect(drawn).toContain('sample_a : NOTE, SEE')
    expect(drawn.slice(drawn.indexOf('note right of sample_b'))[1]).toBe('LOOK')
  })

  it('begins an arrow into an own child at the siblings of the child', () => {
    expect(drawn).toContain('sample_b_y --> sample_b_x : BACK')
    expect(drawn.filter((line) => line.includes('BACK'))).toHaveLength(1)
  })

  it('tells what a history state is', () => {
    const states = { a: {}, last: { type: 'history' }, whole: { type: 'history', history: 'deep' } } as const
    const text = lines(mermaidOf(createMachine({ id: 'm', initial: 'a', states })))
    expect(text).toContain('state "last (history)" as m_last')
    expect(text).toContain('state "whole (deep history)" as m_whole')
  })

  it('marks no beginning in a state that is never entered as a whole', () => {
    expect(lines(mermaidOf(taskMachine))).not.toContain('[*] --> task_terminal_completed')
  })

  it('separates regions', () => {
    expect(lines(mermaidOf(sessionMachine)).filter((line) => line === '--')).toHaveLength(3)
  })

  it('keeps ids apart and texts harmless', () => {
    const odd = mermaidOf(
      createMachine({ id: 'm', initial: 'a-b', states: { 'a-b': {}, a_b: {}, 'x:"y"': {}, ' \n': {} } }),
    )
    expect(lines(odd)).toContain('state "a-b" as m_a_2d_b')
    expect(lines(odd)).toContain('state "a_b" as m_a_5f_b')
    expect(odd).toContain('state "x#58;#34;y#34;" as')
    expect(odd).toContain('state "#32;" as')
  })

  it('gives no state an id that Mermaid gives to a dot, keeps for itself, or cannot keep', () => {
    const inner = { initial: 'start', states: { start: { on: { GO: 'end' } }, end: { type: 'final' } } } as const
    const text = lines(mermaidOf(createMachine({ id: 'root', type: 'parallel', states: { a: inner } })))
    expect(text).toContain('[*] --> _72_oot_a__73_tart')
    expect(text).toContain('_72_oot_a__65_nd --> [*]')
    expect(mermaidOf(createMachine({ id: 'constructor', type: 'parallel', states: { a: {} } }))).toContain(
      'as _63_onstructor {',
    )
    const nested = { initial: '20', states: { 20: { initial: 'b', states: { b: {} } } } } as const
    const ids = [...mermaidOf(createMachine({ initial: 'a', states: { a: nested, 'a b': {} } })).matchAll(/ as (\w+)/g)]
    expect(new Set(ids.map(([, id]) => id)).size).toBe(4)
  })

  it('keeps every sign of a label, whatever it means to Mermaid or Markdown', () => {
    const on = {
      'mcp:*': { actions: '__run__' },
      'direction LR': { actions: 'end note' },
      '%%{x}': { actions: '<b>;#' },
    }
    const [text] = [
      mermaidOf(createMachine({ type: 'parallel', states: { a: { initial: 'b', states: { b: {} }, on } } })),
    ]
    expect(text).toContain('mcp#58;#42; / #95;#95;run#95;#95;')
    expect(text).toContain('#100;irection LR / #101;nd note')
    expect(text).toContain('#37;#37;#123;x#125; / #60;b#62;#59;#35;')
  })

  it.each(charts.map((machine) => [machine.id, machine] as const))(
    'declares every state of %s once, before any arrow',
    (_id, machine) => {
      const text = lines(mermaidOf(machine))
      const names = chartNodes(machine).filter((node) => node.parent !== undefined || node.type === 'parallel')
      const declared = text.filter((line) => line.startsWith('state "'))
      expect(declared).toHaveLength(names.length)
      const firstArrow = text.findIndex((line) => line.includes('-->') && !line.includes('[*]'))
      expect(text.findLastIndex((line) => line.startsWith('state "'))).toBeLessThan(firstArrow)
      expect(mermaidOf(machine)).toBe(mermaidOf(machine))
    },
  )

  it.each(charts.map((machine) => [machine.id, machine] as const))(
    'shows every guard and event of %s',
    (_id, machine) => {
      const text = mermaidOf(machine)
      for (const { event, guard } of chartEdges(machine)) {
        expect(text).toContain(event ?? 'always')
        if (guard !== null) expect(text).toContain(`[${guard}]`)
      }
    },
  )
})

describe('a chart as JSON', () => {
  it.each([...charts, sample, doorMachine].map((machine) => [machine.id, machine] as const))(
    'makes a machine with the same states and transitions: %s',
    (_id, machine) => {
      const json = JSON.parse(JSON.stringify(chartJson(machine)))
      expect(json).toEqual(chartJson(machine))
      const again = createMachine(json)
      const edges = (of: typeof machine | typeof again) =>
        chartEdges(of).map(({ id, guard, actions, targets }) => ({
          id,
          guard,
          actions,
          targets: targets.map((target) => target.id),
        }))
      expect(edges(again)).toEqual(edges(machine))
      expect(chartNodes(again).map(({ id, type }) => [id, type])).toEqual(
        chartNodes(machine).map(({ id, type }) => [id, type]),
      )
      expect(chartJson(again)).toEqual(chartJson(machine))
    },
  )

  it('puts timers, ends and invoked work where a config has them', () => {
    const { out, in: inner } = chartJson(doorMachine).states ?? {}
    expect(Object.keys(out?.after ?? {})).toEqual(['500', 'patience'])
    expect(Object.keys(out?.on ?? {})).toEqual(['BACK', 'KNOCK'])
    expect(out?.invoke).toMatchObject([{ id: 'loading', src: 'load', onError: [{ target: ['#door.dead'] }] }])
    expect(out?.entry).toBeUndefined()
    expect(inner?.onDone).toEqual([{ target: ['#door.dead'] }])
    expect(inner?.states?.hall?.states?.before).toMatchObject({ type: 'history', history: 'deep', target: 'standing' })
  })

  it('leads to the same states where names have dots, and takes events of any name', () => {
    const dotted = createMachine({
      id: 'v1.0',
      initial: 'a.b',
      states: {
        'a.b': { on: { constructor: 'c\\\\d', toString: '#own\\.id' } },
        'c\\d': { id: 'own.id' },
      },
    })
    const json = JSON.parse(JSON.stringify(chartJson(dotted)))
    expect(chartJson(createMachine(json))).toEqual(json)
    expect(Object.keys(json.states['a.b'].on)).toEqual(['constructor', 'toString'])
  })

  it('names guards and actions', () => {
    expect(chartJson(sample).states?.a?.on?.GO).toEqual([
      { target: ['#sample.b.y'], guard: { type: 'late' }, actions: [{ type: 'fold' }, { type: 'ring' }] },
      { target: ['#sample.b'], actions: [{ type: 'fold' }] },
    ])
  })
})
