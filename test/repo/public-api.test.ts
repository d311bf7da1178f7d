import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeApi, readFrom } from './public-api.ts'
import { repoRoot } from './source-files.ts'
import { publicEntries, runCompiler } from './type-check.ts'

const record = join(repoRoot, 'src/public-api.txt')

function builtApi(): string {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-api-'))
  try {
    const run = runCompiler(['-p', 'src/tsconfig.build.json', '--emitDeclarationOnly', '--outDir', folder])
    expect(run.output).toBe('')
    const declared = Object.entries(publicEntries()).map(([path, file]) => [
      path === '.' ? 'landfall' : path.replace('.', 'landfall'),
      file.replace(/\.ts$/, '.d.ts'),
    ])
    return describeApi(Object.fromEntries(declared), readFrom(folder))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('the public interface', () => {
  it('names only entries whose source exists', () => {
    expect(Object.values(publicEntries()).filter((file) => !existsSync(join(repoRoot, file)))).toEqual([])
  })

  it('is the one on record (UPDATE=1 writes it anew)', { timeout: 120_000 }, () => {
    const now = builtApi()
    if (process.env.UPDATE === '1') writeFileSync(record, now)
    expect(now).toBe(existsSync(record) ? readFileSync(record, 'utf8') : '')
  })
})

describe('the description', () => {
  const files: Record<string, string> = {
    'index.d.ts': `export { open, type Options as OpenOptions } from './open.js';\nexport { z } from 'zod';\nexport declare const version: string;`,
    'open.d.ts': `/** Opens. */\nexport interface Options {\n  readonly a: number;\n}\nexport declare function open(a: string): void;\nexport declare function open(a: number): void;`,
  }
  const api = (changed: Record<string, string> = {}) =>
    describeApi({ landfall: 'index.d.ts' }, (path) => ({ ...files, ...changed })[path] ?? null)

  it('lists names with the signatures behind re-exports', () => {
    expect(api()).toBe(
      [
        'landfall',
        '  OpenOptions',
        '    interface Options { readonly a: number; }',
        '  open',
        '    function open(a: string): void;',
        '    function open(a: number): void;',
        '  version',
        '    const version: string;',
        '  z',
        '    from zod',
        '',
      ].join('\n'),
    )
  })

  it('changes with a signature, not with layout or comments', () => {
    const text = files['open.d.ts'] ?? ''
    expect(api({ 'open.d.ts': text.replace('a: string', 'a: string, b: number') })).not.toBe(api())
    expect(api({ 'open.d.ts': text.replace('Opens', 'Opens it').replace('\n  readonly', '\n\n      readonly') })).toBe(
      api(),
    )
  })

  it('refuses an entry or a name that is not there', () => {
    expect(() => describeApi({ landfall: 'nowhere.d.ts' }, () => null)).toThrow('does not exist')
    expect(() => api({ 'open.d.ts': 'export interface Options {}' })).toThrow('open is exported and not found')
  })
})
