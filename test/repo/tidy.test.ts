import { readdirSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { allCode, productFiles, repoRoot, sourceFiles } from './source-files.ts'
import {
  castProblems,
  commentProblems,
  functionProblems,
  lengthProblems,
  lineLimit,
  lineLimitHard,
  longFiles,
  nameProblems,
  placeProblems,
  reexportProblems,
  skipProblems,
  topLevelProblems,
} from './tidy.ts'

// Every file is parsed, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const sample = (text: string, path = 'src/bus/sample.ts') => ({ path, text })
const lines = (count: number) => sample('const x = 1\n'.repeat(count))

describe('the code is tidy', () => {
  const code = allCode()

  it.each([
    ['file lengths', lengthProblems],
    ['function lengths and parameters', functionProblems],
    ['comments', commentProblems],
    ['casts', castProblems],
    ['skipped tests', skipProblems],
    ['names', nameProblems],
  ])('%s', (_name, rule) => {
    expect(code.flatMap((file) => rule(file))).toEqual([])
  })

  it('only the public entries re-export', () => {
    expect(productFiles().flatMap(reexportProblems)).toEqual([])
  })

  it('exceptions of length are needed', () => {
    const long = new Set(code.filter((file) => lengthProblems(file, {}).length > 0).map((file) => file.path))
    expect(Object.keys(longFiles).filter((path) => !long.has(path))).toEqual([])
  })

  it('no paths of a machine, no registry hosts', () => {
    const texts = sourceFiles(/(\.(ts|mjs|js|json|md|sql|html|css|svg|yml|sh|txt)|\/run|LICENSE|\.npmrc)$/)
    expect(texts.length).toBeGreaterThan(code.length)
    expect(texts.flatMap(placeProblems)).toEqual([])
  })

  it('the top level is as agreed', () => {
    expect(topLevelProblems(readdirSync(repoRoot))).toEqual([])
  })
})

describe('the rules find', () => {
  const longFunction = `export function f() {\n${'  g()\n'.repeat(70)}}\n`

  it('a long file', () => {
    const file = lines(lineLimit + 1)
    expect(lengthProblems(lines(lineLimit))).toEqual([])
    expect(lengthProblems(file)).toHaveLength(1)
    expect(lengthProblems(file, { [file.path]: 'a table' })).toEqual([])
    expect(lengthProblems(lines(lineLimitHard + 1), { [file.path]: 'a table' })).toHaveLength(1)
  })

  it('a long function, and too many parameters', () => {
    expect(functionProblems(sample(longFunction))).toHaveLength(1)
    expect(functionProblems(sample(`class A { m() {\n${'  g()\n'.repeat(70)}} }`))).toHaveLength(1)
    expect(functionProblems(sample('export const f = (a, b, c, d, e) => a'))).toHaveLength(1)
    expect(functionProblems(sample(`describe('x', () => {\n${'g()\n'.repeat(90)}})`))).toEqual([])
    const contract = `const log = open()\n${"test('x', () => {})\n".repeat(90)}`
    expect(functionProblems(sample(`function suite() {\n${contract}}`))).toEqual([])
    expect(functionProblems(sample(`function suite() {\n${contract}log.close()\n}`))).toHaveLength(1)
    expect(functionProblems(sample(`it('x', () => {\n${'g()\n'.repeat(90)}})`))).toHaveLength(1)
  })

  it.each([
    ['// TODO later'],
    ['/* FIXME */'],
    ['// @ts-ignore\nconst x = 1'],
    ['// @ts-expect-error\nconst x = 1'],
    ['/** @param {string} a */\nfunction f(a: string) {}'],
  ])('the comment %j', (text) => {
    expect(commentProblems(sample(text))).toHaveLength(1)
  })

  it('no fault in honest comments and in strings', () => {
    expect(commentProblems(sample(`// @ts-expect-error: the host passes a string here\nconst x = 'TODO'`))).toEqual([])
  })

  it('casts', () => {
    expect(castProblems(sample('const x = y as any'))).toHaveLength(1)
    expect(castProblems(sample('const x = y as unknown as string'))).toHaveLength(1)
    expect(castProblems(sample(`const x = (y as unknown) as string`))).toHaveLength(1)
    expect(castProblems(sample('const x = y as string'))).toEqual([])
  })

  it('tests that do not run', () => {
    expect(skipProblems(sample(`it.only('x', () => {})`))).toHaveLength(1)
    expect(skipProblems(sample(`describe.skip('x', () => {})`))).toHaveLength(1)
    expect(skipProblems(sample(`it.skipIf(process.platform === 'win32')('x', () => {})`))).toHaveLength(1)
    expect(skipProblems(sample(`it('x', (context) => context.skip())`))).toHaveLength(1)
    expect(skipProblems(sample(`// Needs user namespaces.\nit.skipIf(!works)('x', () => {})`))).toEqual([])
    expect(skipProblems(sample(`it('x', (context) => context.skip('no sandbox here'))`))).toEqual([])
  })

  it('names', () => {
    expect(nameProblems(sample('', 'src/bus/utils.ts'))).toHaveLength(1)
    expect(nameProblems(sample('', 'src/bus/index.ts'))).toHaveLength(1)
    expect(nameProblems(sample('', 'src/helpers/bus.ts'))).toHaveLength(1)
    expect(nameProblems(sample('', 'src/bus/eventBus.ts'))).toHaveLength(1)
    expect(nameProblems(sample('', 'src/index.ts'))).toEqual([])
    expect(nameProblems(sample('', 'test/bus/event-bus.test.ts'))).toEqual([])
  })

  it('re-exports', () => {
    expect(reexportProblems(sample(`export { x } from './x.ts'`))).toHaveLength(1)
    expect(reexportProblems(sample(`export * from './x.ts'`, 'src/index.ts'))).toHaveLength(1)
    expect(reexportProblems(sample('export default 1'))).toHaveLength(1)
    expect(reexportProblems(sample(`export { x } from './x.ts'`, 'src/testing/public.ts'))).toEqual([])
  })

  it('traces of a place', () => {
    const home = ['', 'home', 'somebody'].join('/')
    const host = ['https:', '', 'registry.example.org'].join('/')
    expect(placeProblems(sample(`const x = '${home}'`))).toHaveLength(1)
    expect(placeProblems(sample(`See ${host}`, 'README.md'))).toHaveLength(1)
    expect(placeProblems(sample(`import x from '../../home/x.ts'`))).toEqual([])
  })

  it('a stray file at the top', () => {
    expect(topLevelProblems(['README.md', '.npmrc', 'dist', 'notes.md'])).toEqual(['notes.md'])
  })
})
