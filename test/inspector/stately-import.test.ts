import { Script } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { type AnyStateMachine, createMachine } from 'xstate'
import { z } from 'zod'
import { chartNodes } from '../../src/inspector/chart-edges.ts'
import { chartJson } from '../../src/inspector/chart-json.ts'
import { ownCharts } from '../../src/inspector/simulator/own-charts.ts'
import { doorMachine } from './door-chart.ts'

/** What is documented of the machine configs that Stately's editor imports. */
const named = z.strictObject({ type: z.string().min(1), params: z.record(z.string(), z.json()).exactOptional() })
const transition = z.strictObject({
  target: z.array(z.string().startsWith('#')).min(1).exactOptional(),
  guard: named.exactOptional(),
  actions: z.array(named).exactOptional(),
  reenter: z.literal(true).exactOptional(),
  description: z.string().exactOptional(),
})
const transitions = z.array(transition).min(1)
const byName = z.record(z.string().min(1), transitions)
const invoke = z.strictObject({
  id: z.string(),
  src: z.string(),
  onDone: transitions.exactOptional(),
  onError: transitions.exactOptional(),
  onSnapshot: transitions.exactOptional(),
})
const state = z.strictObject({
  id: z.string().min(1),
  description: z.string().exactOptional(),
  tags: z.array(z.string()).exactOptional(),
  type: z.enum(['parallel', 'final', 'history']).exactOptional(),
  history: z.enum(['shallow', 'deep']).exactOptional(),
  target: z.string().exactOptional(),
  initial: z.string().exactOptional(),
  entry: z.array(named).exactOptional(),
  exit: z.array(named).exactOptional(),
  invoke: z.array(invoke).exactOptional(),
  on: byName.exactOptional(),
  after: byName.exactOptional(),
  onDone: transitions.exactOptional(),
  always: transitions.exactOptional(),
  get states() {
    return z.record(z.string(), state).exactOptional()
  },
})

const machines: readonly AnyStateMachine[] = [...ownCharts.map(({ machine }) => machine), doorMachine]

describe.each(machines.map((machine) => [machine.id, machine] as const))(
  'the chart %s as the editor imports it',
  (_id, machine) => {
    const text = JSON.stringify(chartJson(machine), null, 2)

    it('has the documented fields and no others', () => {
      expect(state.safeParse(JSON.parse(text)).error?.issues ?? []).toEqual([])
    })

    it('is the argument of a `createMachine` call, which is what an import is written as', () => {
      const run = new Script(`createMachine(${text})`)
      const imported: AnyStateMachine = run.runInNewContext({ createMachine })
      expect(chartNodes(imported).map(({ id }) => id)).toEqual(chartNodes(machine).map(({ id }) => id))
    })

    it('names only states that it has', () => {
      const ids = new Set(chartNodes(machine).map(({ id }) => `#${id}`))
      const targets = [...text.matchAll(/"(#[^"]+)"/g)].map(([, target = '']) => target.replaceAll('\\', ''))
      expect(targets.filter((target) => !ids.has(target))).toEqual([])
    })
  },
)
