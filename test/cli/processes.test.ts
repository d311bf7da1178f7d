import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { commandTable } from '../../src/cli/command-table.ts'
import { type Ended, landfallProcess, start, workFolder } from './cli-process.ts'
import { landfall, turnRuns } from './landfall.ts'

// The commands here are processes, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const say = ['--model', 'script:say.json']

/** Commands whose processes other files of this folder start: the text that does. */
const elsewhere: Readonly<Record<string, readonly [file: string, text: string]>> = {
  chat: ['chat.test.ts', "['chat', '--model'"],
  serve: ['serve.test.ts', "['serve', '--port'"],
  start: ['serve.test.ts', "landfallProcess(['start', '--port', '0'"],
  confirm: ['pauses.test.ts', "landfallProcess(['confirm', "],
  acknowledge: ['held.test.ts', "landfallProcess(['acknowledge', "],
}

/** What each command is told in a process of its own, and what comes of it; `TASK` is the newest one. */
const told: readonly (readonly [words: readonly string[], code: number, says: RegExp])[] = [
  [['run', 'one', ...say], 0, /^Turn 0: one\n$/],
  [['supersede', 'two', ...say], 0, /^Turn 1: two\n$/],
  [['run', 'three', '--model', 'script:fail.json'], 1, /^QUOTA: The turn failed/m],
  [['follow-up', 'four', '--requires', 'success', ...say], 1, /^TASK_BLOCKED: /m],
  [['replace', 'TASK', 'five', ...say], 0, /^applied task=\w+ seq=\d+\n/],
  [['unblock', 'TASK', ...say], 3, /^INVALID_TRANSITION: /],
  [['steer', 'on'], 3, /^TASK_NOT_ACTIVE: /],
  [['cancel', ...say], 3, /^TASK_NOT_ACTIVE: /],
  [['sessions'], 0, /^default open queued=0 /],
  [['show'], 0, /completed/],
  [['tasks'], 0, /^(\w+ foreground \w+ (completed|failed)[^\n]*\n){4}$/],
  [['messages'], 0, /^user: one\nassistant: Turn 0: one\n/],
  [['log', '--limit', '2'], 0, /^(\{.+\}\n){2}$/],
  [['replay', '--at', '3'], 0, /"seq": 3/],
  [['patch'], 0, /^$/],
  [['memory', 'plan', 'tea'], 0, /^applied seq=\d+\n$/],
  [['close'], 0, /^applied /],
  [['reopen'], 0, /^applied /],
  [['restore', 'taken.json', '--session', 'copy'], 0, /^restored session=copy turns=4 /],
  [['erase'], 0, /^applied /],
  [['verify'], 0, /^ok local\/local\/copy [^\n]+\nok local\/local\/default [^\n]+erased=4\n$/],
  [['machines', 'call'], 0, /^%% call\nstateDiagram-v2/],
  [['doctor'], 0, /^ok {2}node: /],
  [['bench', '--only', 'nothing'], 2, /^USAGE: --only takes one of /],
]

it('each command is a program that says its result and exits by it', async () => {
  const cwd = workFolder()
  const begun = new Set<string>()
  for (const [words, code, says] of told) {
    const [name = ''] = words
    // As it was before it is erased.
    if (name === 'restore') writeFileSync(join(cwd, 'taken.json'), (await landfallProcess(['checkpoint'], { cwd })).out)
    const ended = await landfallProcess(await named(cwd, words), { cwd })
    expect([words, ended.code, said(ended)]).toEqual([words, code, expect.stringMatching(says)])
    begun.add(name)
  }
  begun.add('checkpoint')
  await restsAndGoesOn(cwd)
  for (const name of ['pause', 'resume', 'ledger']) begun.add(name)
  for (const [name, [file, text]] of Object.entries(elsewhere)) {
    expect(readFileSync(new URL(file, import.meta.url), 'utf8'), name).toContain(text)
    begun.add(name)
  }
  expect(commandTable.map(({ usage }) => usage.split(' ')[0]).filter((name) => !begun.has(name ?? ''))).toEqual([])
})

/** One process works, others let its turn rest and go on, and tell what was done. */
async function restsAndGoesOn(cwd: string): Promise<void> {
  const there = ['--session', 'rests']
  const run = start(['run', 'wait', '--model', 'script:hang.json', ...there], { cwd })
  await turnRuns(cwd, ...there)
  expect(await landfallProcess(['pause', ...there], { cwd })).toMatchObject({ code: 0 })
  const { pauses } = JSON.parse((await landfall(['show', '--json', ...there], { cwd })).out)
  expect(pauses).toMatchObject([{ reason: 'operator' }])
  expect(await landfallProcess(['resume', pauses[0].token, ...there], { cwd })).toMatchObject({ code: 0 })
  expect((await landfall(['cancel', ...there], { cwd })).code).toBe(0)
  expect((await run.ended).code).toBe(130)
  const ledger = await landfallProcess(['ledger', ...there], { cwd })
  expect(ledger).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+ .* cancellation .* by=/m) })
}

async function named(cwd: string, words: readonly string[]): Promise<readonly string[]> {
  if (!words.includes('TASK')) return words
  const tasks = JSON.parse((await landfall(['tasks', '--json'], { cwd })).out) as { id: string }[]
  return words.map((word) => (word === 'TASK' ? (tasks.at(-1)?.id ?? '') : word))
}

/** A result is on standard output alone; what is refused, on standard error. */
function said({ out, err, code }: Ended): string {
  return code === 0 ? out : err
}
