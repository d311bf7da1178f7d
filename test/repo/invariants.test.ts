import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { features, invariantIds, invariantProblems, invariantRows } from './invariants.ts'
import { repoRoot } from './source-files.ts'

const read = (path: string): string | null =>
  existsSync(repoRoot + path) ? readFileSync(repoRoot + path, 'utf8') : null

describe('the table of invariants in the README', () => {
  it('has a row with a guarding test for each invariant whose feature exists', () => {
    expect(invariantProblems(invariantRows(read('README.md') ?? ''), features, read)).toEqual([])
  })
})

describe('the rule finds', () => {
  const known = { present: ['log'], planned: ['http'] }
  const textOf = (path: string): string | null => (path === 'test/a.test.ts' ? invariantIds.join(' ') : null)
  const by = (id: string) =>
    id === 'INV-21' || id === 'INV-23' ? 'running system' : /08|12|14/.test(id) ? 'facts and content' : 'facts'
  const line = (id: string) => `| ${id} | A statement that is long enough | ${by(id)} | log | \`test/a.test.ts\` |`
  const table = (change: (id: string) => string) =>
    [
      '| id | statement | decided by | holds since | guarding test |',
      '|---|---|---|---|---|',
      ...invariantIds.map(change),
    ].join('\n')
  const problems = (change: (id: string) => string) => invariantProblems(invariantRows(table(change)), known, textOf)
  const changed = (from: string, to: string) =>
    problems((id) => (id === 'INV-05' ? line(id).replace(from, to) : line(id)))

  it('nothing in a full table', () => {
    expect(problems(line)).toEqual([])
  })

  it('a missing table', () => {
    expect(invariantProblems(invariantRows('# Landfall'), known, textOf)).toHaveLength(24)
  })

  it.each([
    ['a missing row', /.*/.source, ''],
    ['an empty statement', 'A statement that is long enough', ''],
    ['a wrong decider', '| facts |', '| running system |'],
    ['an unknown feature', '| log |', '| wishes |'],
    ['a missing test', '`test/a.test.ts`', ''],
    ['a test that does not exist', 'test/a.test.ts', 'test/b.test.ts'],
    ['a strange id', 'INV-05', 'INV-99'],
  ])('%s', (name, from, to) => {
    const found = name === 'a missing row' ? problems((id) => (id === 'INV-05' ? '' : line(id))) : changed(from, to)
    expect(found.length).toBeGreaterThan(0)
  })

  it('a test that does not mention its invariant', () => {
    const silent = invariantProblems(invariantRows(table(line)), known, () => 'nothing')
    expect(silent).toHaveLength(24)
  })

  it('no fault in a row that waits for a feature', () => {
    expect(
      problems((id) => (id === 'INV-21' ? line(id).replace('| log | `test/a.test.ts`', '| http | ') : line(id))),
    ).toEqual([])
  })
})
