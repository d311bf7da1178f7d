import type { Script } from '../../models/script.ts'
import { lookAround, sayWhatWasAsked } from './look-around.ts'

const folder = 'landfall-demo'
const program = `${folder}/add.mjs`
const test = `${folder}/add.test.mjs`

const testText = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add } from './add.mjs'

test('adds', () => assert.equal(add(2, 2), 4))
`
const text = (sign: string) => `export const add = (left, right) => left ${sign} right\n`

const runTest = { name: 'process.exec', arguments: { argv: ['node', '--test', test] } }

/** How much of a file is read, so that what is printed stays on one screen. */
const someBytes = 160

/** What the demonstration's model does where a sandbox is to be had: all five tools, on a copy of the folder. */
export const repairScript: Script = {
  name: 'demo',
  everyTurn: [
    ...lookAround(someBytes),
    {
      delayMs: 60,
      text: 'fs.read returned {{last}}\nI write a small program and its test, into a copy of the folder.',
      calls: [
        { name: 'fs.write', arguments: { path: program, contents: text('-') } },
        { name: 'fs.write', arguments: { path: test, contents: testText } },
      ],
      usage: { input: 900, output: 160 },
    },
    {
      delayMs: 60,
      text: 'Now the test, in a sandbox without network.',
      calls: [runTest],
      usage: { input: 1_000, output: 40 },
    },
    {
      delayMs: 60,
      text: 'It fails, as its exit code says. I look at the program.',
      calls: [{ name: 'fs.read', arguments: { path: program, length: someBytes } }],
      usage: { input: 1_600, output: 40 },
    },
    {
      delayMs: 60,
      text: 'fs.read returned {{last}}\nThe sign is wrong. I repair it and test again.',
      calls: [{ name: 'fs.write', arguments: { path: program, contents: text('+') } }],
      usage: { input: 1_700, output: 80 },
    },
    { delayMs: 60, text: 'Once more:', calls: [runTest], usage: { input: 1_800, output: 30 } },
    {
      delayMs: 60,
      text: 'It passes. What changed, altogether:',
      calls: [{ name: 'git.diff', arguments: {} }],
      usage: { input: 2_300, output: 30 },
    },
    {
      delayMs: 60,
      text: 'git.diff returned {{last}}\nAnd the beginning of README.md, which nothing has touched.',
      calls: [{ name: 'fs.read', arguments: { path: 'README.md', length: someBytes } }],
      usage: { input: 2_500, output: 60 },
    },
    sayWhatWasAsked('The folder itself is as it was. ', 2_600),
  ],
}
