import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeModules, snippetsOf, tourBlocks, tourFiles } from './readme.ts'
import { repoRoot, sourceFiles } from './source-files.ts'
import { checkModules } from './type-check.ts'

const readmePath = join(repoRoot, 'README.md')
const readme = existsSync(readmePath) ? readFileSync(readmePath, 'utf8') : ''
const command = join(repoRoot, 'dist/src/cli/main.js')

/** Runs the blocks one after another in an empty folder, with `landfall` on the path. Returns what failed, or ''. */
function runTour(markdown: string, main: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-tour-'))
  try {
    const bin = join(folder, 'bin')
    const place = join(folder, 'tour')
    mkdirSync(bin)
    mkdirSync(place)
    writeFileSync(join(bin, 'landfall'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`)
    chmodSync(join(bin, 'landfall'), 0o755)
    const snippets = snippetsOf(markdown)
    for (const { name, body } of tourFiles(snippets)) writeFileSync(join(place, name), body)
    const outside = Object.entries(process.env).filter(([name]) => !/^(LANDFALL_|NODE_OPTIONS|VITEST)/.test(name))
    const env = { ...Object.fromEntries(outside), PATH: `${bin}:${process.env.PATH ?? ''}` }
    for (const block of tourBlocks(snippets)) {
      const run = spawnSync('sh', ['-e', '-c', block.body], { cwd: place, env, encoding: 'utf8', timeout: 60_000 })
      if (run.status !== 0) return `block at line ${block.line} ended with ${run.status}\n${run.stdout}${run.stderr}`
    }
    return ''
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('the README', () => {
  it('has a tour whose commands work with the built command', { timeout: 180_000 }, () => {
    expect(tourBlocks(snippetsOf(readme)).length, 'blocks marked `sh tour`').toBeGreaterThan(0)
    expect(existsSync(command), 'the command is built (npm run build)').toBe(true)
    expect(runTour(readme, command)).toBe('')
  })

  it('has TypeScript that compiles against the public entries', { timeout: 120_000 }, () => {
    const modules = codeModules(snippetsOf(readme))
    expect(modules.length, '`ts` blocks').toBeGreaterThan(0)
    expect(checkModules(modules)).toBe('')
  })
})

describe('the list of decisions', () => {
  it('names every record, with its title', () => {
    const records = sourceFiles(/\.md$/, 'src/decisions').map(({ path, text }) => {
      const [, number, title] = /^# (\d{4}) (.+)$/m.exec(text) ?? []
      return `- [${number}](${path}) ${title}`
    })
    expect(readme.split('\n').filter((line) => line.includes('](src/decisions/0') && line.startsWith('- ['))).toEqual(
      records,
    )
  })
})

describe('the rule finds', () => {
  const fence = '```'
  const sample = (...blocks: string[]) => blocks.map((block) => `${fence}${block}\n${fence}\n`).join('\ntext\n\n')

  it('blocks with their marks', () => {
    const snippets = snippetsOf(sample('sh tour\nls', 'sh\nrm -r x', 'json file=demo.json\n{}', 'ts\nconst x = 1'))
    expect(snippets.map((snippet) => snippet.body)).toEqual(['ls', 'rm -r x', '{}', 'const x = 1'])
    expect(tourBlocks(snippets)).toHaveLength(1)
    expect(tourFiles(snippets)).toEqual([{ name: 'demo.json', body: '{}' }])
    expect(codeModules(snippets)).toHaveLength(1)
  })

  it('a command of the tour that fails, also in the middle', () => {
    const main = join(repoRoot, 'package.json')
    expect(runTour(sample('json file=demo.json\n{}', 'sh tour\ntest -f demo.json'), main)).toBe('')
    expect(runTour(sample('sh tour\nfalse\ntrue'), main)).toContain('ended with 1')
    expect(runTour(sample('sh tour\nlandfall --version'), main)).toContain('block at line')
  })

  it('a type error', { timeout: 60_000 }, () => {
    expect(checkModules([`const x: number = 'no'\nexport {}`])).toContain('TS2322')
    expect(checkModules([`const x: number = 1\nexport {}`])).toBe('')
    expect(checkModules([`import { nothing } from 'landfall/nowhere'\nnothing()`])).not.toBe('')
  })
})
