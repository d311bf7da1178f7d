import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { tempFolder } from '../log/temp-store.ts'
import { brokenPromises } from './broken-promises.ts'
import { leftIn, workAndKill } from './kills.ts'

/*
 * Planted bugs in a copy of the built library: processes that run it are killed like the others, and what they leave must show it.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))

type Patch = readonly [file: string, from: string, to: string]

function patchedLibrary(patches: readonly Patch[]): string {
  const folder = tempFolder()
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true })
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'dist/node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const [file, from, to] of patches) {
    const path = join(folder, 'dist', file)
    const text = readFileSync(path, 'utf8')
    if (!text.includes(from)) throw new Error(`${file} has changed: the planted bug finds no place in it`)
    writeFileSync(path, text.replace(from, to))
  }
  return join(folder, 'dist/')
}

const canaries: readonly (readonly [string, readonly Patch[], RegExp])[] = [
  [
    'a change that was lost in a crash is done again',
    [
      ['src/runtime/expand-recovery.js', `entry.effect === 'mutate')`, 'false)'],
      ['src/runtime/expand-recovery.js', `entry.effect !== 'mutate')`, 'true)'],
      ['machines/call.machine.js', `context.effect === 'read' || context.effect === 'idempotent'`, 'true'],
    ],
    /was done twice|INV-22/,
  ],
  [
    'a receipt is given before the step is durable',
    [
      [
        'src/runtime/committer.js',
        'commit(step) {',
        `commit(step) {
        setTimeout(() => {
            this.#waiting.push({ step, resolve() {} });
            this.#schedule();
        }, 30);
        return Promise.resolve({ ok: true, cursor: performance.now(), duplicate: false });
    }
    commitInTime(step) {`,
      ],
    ],
    /is not in the log/,
  ],
]

it.each(canaries)('%s', { timeout: 120_000 }, async (_, patches, found) => {
  const library = patchedLibrary(patches)
  const directory = tempFolder()
  let problems: readonly string[] = []
  for (let nth = 0; nth < 12 && !problems.some((problem) => found.test(problem)); nth += 1) {
    await workAndKill(directory, 7_000 + nth, { receipts: 12, ms: nth, library })
    problems = brokenPromises(await leftIn(directory))
  }
  expect(problems.join('\n')).toMatch(found)
})
