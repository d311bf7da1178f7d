import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from './source-files.ts'

const compiler = join(repoRoot, 'node_modules/typescript/bin/tsc')

interface PublicManifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
}

/** Public sub-path (`.` or `./sqlite`) to the source file behind it, as package.json names it. */
export function publicEntries(): Record<string, string> {
  const manifest: PublicManifest = JSON.parse(readFileSync(join(repoRoot, 'package.json'), 'utf8'))
  const entries: Record<string, string> = {}
  for (const [path, target] of Object.entries(manifest.exports))
    if (typeof target !== 'string') entries[path] = target.types.replace(/^\.\/dist\//, '').replace(/\.d\.ts$/, '.ts')
  return entries
}

export function runCompiler(options: readonly string[]): { ok: boolean; output: string } {
  const run = spawnSync(process.execPath, [compiler, ...options], { cwd: repoRoot, encoding: 'utf8' })
  return { ok: run.status === 0, output: `${run.stdout}${run.stderr}` }
}

/** Checks modules as a user of the package would write them. Returns the compiler's complaints, or ''. */
export function checkModules(modules: readonly string[]): string {
  mkdirSync(join(repoRoot, 'dist'), { recursive: true })
  // Inside the repository, because packages are found from there; in dist, because nobody commits that.
  const folder = mkdtempSync(join(repoRoot, 'dist', 'snippets-'))
  try {
    const files = modules.map((text, at) => {
      const name = `snippet-${at + 1}.ts`
      writeFileSync(join(folder, name), text)
      return name
    })
    const paths = Object.fromEntries(
      Object.entries(publicEntries()).map(([path, file]) => [join('landfall', path), [join(repoRoot, file)]]),
    )
    const compilerOptions = { paths, noUnusedLocals: false, noUnusedParameters: false }
    const config = { extends: '../../tsconfig.json', compilerOptions, files, include: [] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const result = runCompiler(['-p', folder])
    return result.ok ? '' : result.output
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
