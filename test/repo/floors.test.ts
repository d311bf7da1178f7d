import { describe, expect, it, vi } from 'vitest'
import { cycles, floorViolations, homeless } from './floors.ts'
import { productFiles } from './source-files.ts'

// Every file of the repository is parsed, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const one = (path: string, text: string) => floorViolations([{ path, text }])

describe('floors', () => {
  const files = productFiles()

  it('reads real files', () => {
    expect(files.length).toBeGreaterThan(5)
  })

  it('every folder has a floor', () => {
    expect(homeless(files)).toEqual([])
  })

  it('imports go strictly downwards', () => {
    expect(floorViolations(files)).toEqual([])
  })

  it('there is no import cycle, not even of types', () => {
    expect(cycles(files)).toEqual([])
  })
})

describe('the rule finds', () => {
  it.each([
    ['an upward import', 'src/facts/a.ts', `import { x } from '../runtime/x.ts'`],
    ['an upward type import', 'machines/a.ts', `import type { X } from '../src/facts/x.ts'`],
    ['an upward re-export', 'src/facts/a.ts', `export { x } from '../bus/x.ts'`],
    ['an upward import() type', 'src/facts/a.ts', `export type X = import('../bus/x.ts').X`],
    ['an upward dynamic import', 'src/bus/a.ts', `export const x = () => import('../cli/x.ts')`],
    ['a neighbour on the same floor', 'src/bus/a.ts', `import { x } from '../log/x.ts'`],
    ['a driver that knows another', 'src/log/sqlite/a.ts', `import { x } from '../memory/x.ts'`],
    ['an import out of the product', 'src/bus/a.ts', `import { x } from '../../test/x.ts'`],
    ['a package in a chart', 'machines/a.ts', `import { z } from 'zod'`],
    ['a Node module in the context', 'src/context/a.ts', `import { join } from 'node:path'`],
    ['a folder without a floor', 'src/misc/a.ts', `import { x } from '../facts/x.ts'`],
  ])('%s', (_name, path, text) => {
    expect(one(path, text)).toHaveLength(1)
  })

  it('nothing in lawful imports', () => {
    expect(
      one('src/context/a.ts', `import type { X } from '../../machines/x.ts'\nimport { y } from '../facts/y.ts'`),
    ).toEqual([])
    expect(one('src/log/sqlite/a.ts', `import { x } from '../packing.ts'\nimport D from 'better-sqlite3'`)).toEqual([])
    expect(one('machines/a.ts', `import { setup } from 'xstate'\nimport { x } from './x.ts'`)).toEqual([])
  })

  it('a cycle through types, and a file without a floor', () => {
    const files = [
      { path: 'src/bus/a.ts', text: `import type { B } from './b.ts'\nexport type A = B` },
      { path: 'src/bus/b.ts', text: `import type { A } from './a.ts'\nexport type B = A` },
      { path: 'src/bus/c.ts', text: `import type { A } from './a.ts'\nexport type C = A` },
    ]
    expect(cycles(files)).toHaveLength(2)
    expect(homeless([{ path: 'src/stray.ts', text: '' }])).toHaveLength(1)
  })
})
