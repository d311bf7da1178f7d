import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { emptyWorld } from '../../machines/world.ts'
import { foldVersion, packWorld } from '../../src/runtime/world-snapshot.ts'
import { digestOf, foldEntries, foldProblem, mayRecord, type RecordedFold, sourcesOf } from './fold-version.ts'
import { repoRoot } from './source-files.ts'

const record = join(repoRoot, 'test/repo/fold-version.json')

function presentFold(): RecordedFold {
  const sources = sourcesOf(repoRoot, foldEntries).map((path) => ({
    path,
    text: readFileSync(join(repoRoot, path), 'utf8'),
  }))
  return { version: foldVersion, digest: digestOf(sources) }
}

describe('the version of the fold', () => {
  it('is counted up whenever what folds has changed (UPDATE=1 with a counted version records it)', () => {
    const recorded = JSON.parse(readFileSync(record, 'utf8')) as RecordedFold
    const now = presentFold()
    if (process.env.UPDATE === '1' && mayRecord(recorded, now)) {
      writeFileSync(record, `${JSON.stringify(now, null, 2)}\n`)
      return
    }
    expect(foldProblem(recorded, now)).toBeNull()
  })

  it('covers charts, reducers and their helpers, and no port or store', () => {
    const sources = sourcesOf(repoRoot, foldEntries)
    for (const path of ['session.machine', 'task.machine', 'call.machine', 'task-fold', 'reducers', 'view', 'routing'])
      expect(sources).toContain(`machines/${path}.ts`)
    expect(sources.filter((path) => !path.startsWith('machines/'))).toEqual(['src/runtime/world-snapshot.ts'])
  })

  it('has every part of the world in its snapshot', () => {
    const packed = JSON.parse(packWorld(emptyWorld(), '').slice(64)) as object
    expect(Object.keys(packed).sort()).toEqual(['foldVersion', ...Object.keys(emptyWorld())].sort())
  })
})

describe('the check', () => {
  const recorded = { version: 3, digest: 'a' }

  it('says what is to be done', () => {
    expect(foldProblem(recorded, recorded)).toBeNull()
    expect(foldProblem(recorded, { version: 3, digest: 'b' })).toMatch(/count foldVersion up to 4/)
    expect(foldProblem(recorded, { version: 4, digest: 'b' })).toMatch(/UPDATE=1/)
    expect(foldProblem(recorded, { version: 4, digest: 'a' })).toMatch(/nothing that folds has changed/)
    expect(foldProblem(recorded, { version: 2, digest: 'b' })).toMatch(/went back/)
  })

  it('records nothing without a counted version', () => {
    expect(mayRecord(recorded, { version: 3, digest: 'b' })).toBe(false)
    expect(mayRecord(recorded, { version: 4, digest: 'b' })).toBe(true)
  })

  it('minds code alone', () => {
    const of = (text: string) => digestOf([{ path: 'a.ts', text }])
    const code = 'export const foldVersion = 3\nexport const two = 2\n'
    expect(of(`/** Says why. */\n${code.replace('3', '4').replaceAll('\n', '\n\n')}`)).toBe(of(` ${code}`))
    expect(of(code.replace('two = 2', 'two = 3'))).not.toBe(of(code))
  })
})
