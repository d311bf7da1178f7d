import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the fix writes. */
export const fixed = 'export const add = (a, b) => a + b\n'

/** A project with a test that fails, something binary, and Git metadata that nothing may touch. */
export function sampleProject(): string {
  const root = mkdtempSync(join(tmpdir(), 'landfall-sample-'))
  mkdirSync(join(root, 'src'))
  mkdirSync(join(root, 'test'))
  mkdirSync(join(root, '.git'))
  writeFileSync(join(root, '.git', 'config'), '[core]\n')
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(join(root, 'logo.png'), Buffer.from([0x89, 0x50, 0, 1]))
  writeFileSync(join(root, 'src', 'add.js'), 'export const add = (a, b) => a - b\n')
  writeFileSync(
    join(root, 'test', 'add.test.js'),
    [
      "import assert from 'node:assert/strict'",
      "import { test } from 'node:test'",
      "import { add } from '../src/add.js'",
      "test('adds', () => assert.equal(add(2, 2), 4))",
      '',
    ].join('\n'),
  )
  return root
}

/** Digests of every file of a folder, with its mode: two that are equal mean that nothing was touched. */
export function fingerprint(root: string, at = ''): readonly string[] {
  return readdirSync(join(root, at), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(at, entry.name)
      if (entry.isDirectory()) return fingerprint(root, path)
      const { mode } = statSync(join(root, path))
      const digest = createHash('sha256')
        .update(readFileSync(join(root, path)))
        .digest('hex')
      return [`${path} ${mode.toString(8)} ${digest}`]
    })
    .sort()
}
