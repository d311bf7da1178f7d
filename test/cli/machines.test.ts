import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, vi } from 'vitest'
import { createMachine } from 'xstate'
import { chartNodes } from '../../src/inspector/chart-edges.ts'
import { tempFolder } from '../log/temp-store.ts'
import { repoRoot } from '../repo/source-files.ts'
import { landfallProcess } from './cli-process.ts'
import { landfall } from './landfall.ts'

vi.setConfig({ testTimeout: 60_000 })

const xstate = pathToFileURL(join(repoRoot, 'node_modules/xstate/dist/xstate.esm.js')).href

const lamp = `import { setup } from '${xstate}'
const chart = setup({ guards: { isDark: () => true } })
export const lamp = chart.createMachine({
  id: 'lamp',
  initial: 'off',
  states: { off: { on: { PRESS: { guard: 'isDark', target: 'on' } } }, on: { after: { 1000: 'off' } } },
})
`

function write(name: string, text: string): string {
  const cwd = tempFolder()
  writeFileSync(join(cwd, name), text)
  return cwd
}

it('draws a chart of its own as a picture', async () => {
  const cwd = tempFolder()
  const drawn = await landfall(['machines', 'call', '--format', 'svg'], { cwd })
  expect(drawn.code).toBe(0)
  expect(drawn.out).toMatch(/^<svg [\s\S]*<title>The call chart<\/title>[\s\S]*<\/svg>\n$/)
  expect((await landfall(['machines', '--format', 'svg'], { cwd })).code).toBe(2)
  const all = JSON.parse((await landfall(['machines', '--format', 'svg', '--json'], { cwd })).out)
  expect(Object.keys(all)).toEqual(['session', 'task', 'call', 'group'])
  expect((await landfall(['machines', 'task', '--format', 'gif'], { cwd })).code).toBe(2)
})

it('draws the chart of a module', async () => {
  const cwd = write('lamp.machine.mjs', lamp)
  const json = await landfall(['machines', './lamp.machine.mjs', '--format', 'json'], { cwd })
  const again = createMachine(JSON.parse(json.out))
  expect(chartNodes(again).map(({ id }) => id)).toEqual(['lamp', 'lamp.off', 'lamp.on'])
  expect(again.config).toMatchObject({ states: { on: { after: { 1000: [{ target: ['#lamp.off'] }] } } } })
  expect((await landfall(['machines', 'lamp.machine.mjs'], { cwd })).out).toContain(
    'lamp_off --> lamp_on : PRESS [isDark]',
  )
  expect((await landfall(['machines', 'lamp.machine.mjs', '--format', 'svg'], { cwd })).out).toContain(
    'data-state="lamp.on"',
  )
})

it('reads TypeScript where Node does, and says so where it does not', async () => {
  const cwd = write(
    'lamp.machine.ts',
    lamp
      .replace('const chart', 'const chart: unknown')
      .replace('chart.create', '(chart as ReturnType<typeof setup>).create'),
  )
  const { code, out, err } = await landfall(['machines', './lamp.machine.ts'], { cwd })
  const { typescript } = process.features as { typescript?: unknown }
  if (typescript === undefined || typescript === false) {
    expect(code).toBe(2)
    expect(err).toMatch(/INVALID_INPUT: This Node reads no TypeScript.*22\.18/)
  } else expect(out).toContain('lamp_off --> lamp_on')
})

it.each([
  ['is not there', 'other.mjs', lamp, /There is no such file/],
  ['exports no machine', 'lamp.mjs', 'export const lamp = 1', /exports no XState machine/],
  ['is broken', 'lamp.mjs', 'export const lamp = ', /cannot be loaded: /],
  ['throws nothing', 'lamp.mjs', 'throw null', /cannot be loaded: null/],
  [
    'exports what only resembles a machine',
    'lamp.mjs',
    'export const it = { root: {}, transition() {}, config: {} }',
    /no XState/,
  ],
  [
    'exports what cannot be looked at',
    'lamp.mjs',
    "export const it = { get root() { throw new Error('no') } }",
    /no XState/,
  ],
  ['is a folder', '', lamp, /This is a folder/],
  ['has no chart of that name', 'lamp.mjs#other', lamp, /Its charts are lamp/],
  ['has a chart with a target that is none', 'lamp.mjs', lamp.replace("target: 'on'", "target: 'nowhere'"), /nowhere/],
])('says what is wrong with a module that %s', async (_what, name, text, says) => {
  const cwd = write('lamp.mjs', text)
  const { code, err } = await landfall(['machines', `./${name}`], { cwd })
  expect(code).toBe(2)
  expect(err).toMatch(/^INVALID_INPUT: /)
  expect(err).toMatch(says)
})

it('shows each chart of a module that has several, and one that is named', async () => {
  const cwd = write(
    'several.mjs',
    `import { createMachine } from '${xstate}'
export const a = createMachine({ id: 'first' })
export default createMachine({ id: 'a' })
`,
  )
  const all = JSON.parse((await landfall(['machines', './several.mjs', '--format', 'json'], { cwd })).out)
  expect(all).toEqual({ a: { id: 'first' }, default: { id: 'a' } })
  const { code, err } = await landfall(['machines', './several.mjs', '--format', 'svg'], { cwd })
  expect(code).toBe(2)
  expect(err).toContain('./several.mjs#a, ./several.mjs#default')
  const one = await landfall(['machines', 'several.mjs#default', '--format', 'svg'], { cwd })
  expect(one.out).toContain('data-state="a"')
})

it('finds charts of a CommonJS module that Node does not name', async () => {
  const cwd = write(
    'several.cjs',
    `const { createMachine } = require('${repoRoot}/node_modules/xstate')
module.exports = { one: createMachine({ id: 'one' }), two: createMachine({ id: 'two' }) }
`,
  )
  const { out } = await landfall(['machines', './several.cjs', '--format', 'json'], { cwd })
  expect(Object.keys(JSON.parse(out))).toEqual(['one', 'two'])
})

const ring = `import { createMachine } from '${xstate}'
const names = Array.from({ length: 3_000 }, (_, at) => 's' + at)
export const ring = createMachine({
  id: 'ring',
  initial: 's0',
  states: Object.fromEntries(names.map((name, at) => [name, { on: { NEXT: names[(at + 1) % names.length] } }])),
})
`

it('refuses the picture of a chart that is too large for one, by a code and with what has no bound', async () => {
  const cwd = write('ring.mjs', ring)
  const { code, out, err } = await landfall(['machines', './ring.mjs', '--format', 'svg', '--json'], { cwd })
  expect({ code, out }).toEqual({ code: 3, out: '' })
  expect(JSON.parse(err)).toMatchObject({
    code: 'LIMIT_EXCEEDED',
    message: expect.stringMatching(/3001 states.*--format mermaid, --format json/),
    details: { which: 'drawing.states', bound: 600, got: 3_001 },
  })
  const drawn = await landfall(['machines', './ring.mjs', '--format', 'mermaid'], { cwd })
  expect(drawn.code).toBe(0)
  expect(drawn.out).toContain('ring_s2999 --> ring_s0 : NEXT')
})

it('writes a name of several lines into one line of a comment', async () => {
  const cwd = write(
    'odd.mjs',
    `import { createMachine } from '${xstate}'
export default createMachine({ id: 'one\\ntwo\\u2028three', initial: 'a', states: { a: {} } })
`,
  )
  const { out } = await landfall(['machines', './odd.mjs'], { cwd })
  const [comment, kind] = out.split('\n')
  expect(comment).toMatch(/^%% /)
  expect(kind).toBe('stateDiagram-v2')
})

it.each([
  ['a chart', ['machines', './talks.mjs', '--json']],
  ['a file of tools', ['run', 'x', '--model', 'script:script.json', '--tools', './talks.mjs', '--json']],
])('keeps what %s prints while it is loaded off the results', async (_what, words) => {
  const cwd = write(
    'talks.mjs',
    `import { createMachine } from '${xstate}'
console.log('loading')
process.stdout.write('slowly\\n')
await new Promise((resolve) => setTimeout(resolve, 1))
console.info('loaded')
export const talks = createMachine({ id: 'talks' })
export default []
`,
  )
  writeFileSync(join(cwd, 'script.json'), JSON.stringify({ everyTurn: [{ text: 'done' }] }))
  const { code, out, err } = await landfallProcess(words, { cwd })
  expect(code).toBe(0)
  for (const line of out.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
  expect(err).toBe('loading\nslowly\nloaded\n')
})

it('gives standard output back after a module that throws', async () => {
  const cwd = write('throws.mjs', `process.stdout.write('loading\\n')\nthrow new Error('no')`)
  expect(await landfall(['machines', './throws.mjs'], { cwd })).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(/^loading\nINVALID_INPUT: /),
  })
  expect((await landfall(['machines', 'call'], { cwd })).out).toContain('stateDiagram-v2')
})
