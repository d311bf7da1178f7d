import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { inexactVersions, type Manifest, undeclaredImports, unusedDependencies } from './dependencies.ts'
import { allCode, repoRoot } from './source-files.ts'

// Every file of the repository is parsed, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const manifest: Manifest = JSON.parse(readFileSync(`${repoRoot}package.json`, 'utf8'))

describe('dependencies', () => {
  it('have exact versions', () => {
    expect(inexactVersions(manifest)).toEqual([])
  })

  it('are declared when imported', () => {
    expect(undeclaredImports(allCode(), manifest)).toEqual([])
  })

  it('are used when declared', () => {
    expect(unusedDependencies(allCode(), manifest)).toEqual([])
  })

  it('the lockfile names the same versions and no host', () => {
    const text = readFileSync(`${repoRoot}package-lock.json`, 'utf8')
    const lock: { packages: { '': Manifest } } = JSON.parse(text)
    expect(lock.packages[''].dependencies).toEqual(manifest.dependencies)
    expect(lock.packages[''].devDependencies).toEqual(manifest.devDependencies)
    expect(text).not.toContain('"resolved"')
  })
})

describe('the rules find', () => {
  const product = { path: 'src/bus/a.ts', text: `import { z } from 'zod'` }
  const test = { path: 'test/a.test.ts', text: `import { it } from 'vitest'` }

  it('a version range', () => {
    expect(inexactVersions({ dependencies: { zod: '^4.0.0', ulid: '3.0.2' } })).toHaveLength(1)
  })

  it('an import of nothing declared, or of a development package in the product', () => {
    expect(undeclaredImports([product], {})).toHaveLength(1)
    expect(undeclaredImports([product], { devDependencies: { zod: '4.0.0' } })).toHaveLength(1)
    expect(
      undeclaredImports([product, test], { dependencies: { zod: '4.0.0' }, devDependencies: { vitest: '4.0.0' } }),
    ).toEqual([])
  })

  it('a package that nothing uses', () => {
    expect(unusedDependencies([product], { dependencies: { zod: '4.0.0', rxjs: '7.0.0' } })).toHaveLength(1)
    expect(unusedDependencies([test], { devDependencies: { vitest: '4.0.0', idle: '1.0.0' } })).toHaveLength(1)
  })
})
