import { describe, expect, it, vi } from 'vitest'
import { fromPromise, StateMachine, setup } from 'xstate'
import { activeStates, ambientUses, impurities, realPorts } from './purity.ts'
import { productFiles, repoRoot, sourceFiles } from './source-files.ts'

// Every file of the repository is parsed, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const one = (text: string) => impurities([{ path: 'machines/sample.ts', text }])
const ambient = (text: string) => ambientUses([{ path: 'src/bus/sample.ts', text }], {})

describe('purity', () => {
  it('charts and context assembly have no time, chance, I/O or work of their own', () => {
    const files = sourceFiles(/\.ts$/, 'machines', 'src/context')
    expect(files.length).toBeGreaterThan(1)
    expect(impurities(files)).toEqual([])
  })

  it('no exported chart has an invoke or a timer', async () => {
    const charts: [string, string[]][] = []
    for (const file of sourceFiles(/\.ts$/, 'machines')) {
      const exported: Record<string, unknown> = await import(`${repoRoot}${file.path}`)
      for (const [name, value] of Object.entries(exported))
        if (value instanceof StateMachine) charts.push([name, activeStates(value.root)])
    }
    expect(charts.map(([name]) => name).length, 'charts found').toBeGreaterThan(0)
    expect(charts.filter(([, problems]) => problems.length > 0)).toEqual([])
  })

  it('product code reads time and chance through ports', () => {
    expect(ambientUses(productFiles(), realPorts)).toEqual([])
  })
})

describe('the rule finds', () => {
  it.each([
    ['the date', 'export const t = () => new Date()'],
    ['the clock', 'export const t = () => Date.now()'],
    ['a shorthand', 'export const t = { process }'],
    ['chance', 'export const r = () => Math.random()'],
    ['a timer', 'setTimeout(() => 1, 5)'],
    ['the network', `export const f = () => fetch('x')`],
    ['a Node module', `import 'node:fs'`],
    ['an invoked actor', `export const c = { invoke: { src: 'x' } }`],
    ['a delayed transition', `export const c = { after: { 1000: 'done' } }`],
    ['a spawned actor', 'export const c = (spawn: (x: string) => void) => 1'],
    ['a started actor', 'export const go = (actor: { start(): void }) => actor.start()'],
    ['actor logic of xstate', `import { fromPromise } from 'xstate'`],
  ])('%s', (_name, text) => {
    expect(one(text).length).toBeGreaterThan(0)
  })

  it.each([
    ['the clock', 'export const t = () => Date.now()'],
    ['the present', 'export const t = () => new Date()'],
    ['a timer', 'setInterval(() => 1, 5)'],
    ['chance', 'export const r = () => Math.random()'],
  ])('%s used around a port', (_name, text) => {
    expect(ambient(text)).toHaveLength(1)
  })

  it('nothing in pure code', () => {
    expect(one(`export const f = (before: number, after: number) => ({ before, after })`)).toEqual([])
    expect(
      one(`import type { ActorRef } from 'xstate'\nexport const at = (x: { process: string }) => x.process`),
    ).toEqual([])
    expect(ambient('export const iso = (ms: number) => new Date(ms).toISOString()')).toEqual([])
  })

  it('a built chart that keeps time or invokes', () => {
    const timed = setup({}).createMachine({ initial: 'a', states: { a: { after: { 10: 'b' } }, b: {} } })
    const calling = setup({ actors: { work: fromPromise(async () => 1) } }).createMachine({
      id: 'm',
      invoke: { src: 'work' },
    })
    expect(activeStates(timed.root)).toHaveLength(1)
    expect(activeStates(calling.root)).toEqual(['m invokes'])
  })
})
