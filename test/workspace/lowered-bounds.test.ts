import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { LimitName } from '../../src/facts/limits.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { drivers, openHarness } from '../contract/kit/sandboxes.ts'

const scope = { tenant: 't', user: 'u', session: 's' }
const from = mkdtempSync(join(tmpdir(), 'landfall-lowered-'))
const long = 'x'.repeat(3_000)
mkdirSync(join(from, 'dir'))
mkdirSync(join(from, 'many'))
writeFileSync(join(from, 'a.txt'), 'hello\n')
writeFileSync(join(from, 'long'), long)
writeFileSync(join(from, 'dir', 'b.txt'), 'below\n')
for (let at = 0; at < 20; at += 1) writeFileSync(join(from, 'many', `a-rather-long-name-${at}`), '')
afterAll(() => rmSync(from, { recursive: true, force: true }))

/** A call, and what becomes of it in a folder that is only read and in a sandbox: a code, `done`, or what its result must be. */
interface Row {
  readonly name: string
  readonly args: object
  readonly local: string
  readonly isolated: string | ((result: string) => boolean)
}

const isolation = 'WORKSPACE_ISOLATION_REQUIRED'
const read = (args: object, code: string): Row => ({ name: 'fs.read', args, local: code, isolated: code })
const list = (path: string, code: string): Row => ({ name: 'fs.list', args: { path }, local: code, isolated: code })
const write = (path: string, contents: string, isolated: Row['isolated']): Row => {
  return { name: 'fs.write', args: { path, contents }, local: isolation, isolated }
}
const exec = (argv: readonly string[], isolated: Row['isolated'], more: object = {}): Row => {
  return { name: 'process.exec', args: { argv, ...more }, local: isolation, isolated }
}
const shell = (script: string, isolated: Row['isolated']): Row => exec(['sh', '-c', script], isolated)
const diff = (isolated: Row['isolated']): Row => ({ name: 'git.diff', args: {}, local: 'done', isolated })
const failed = (result: string): boolean => !result.includes('"exitCode":0')
const tellsOfForks = (result: string): boolean => /fork/i.test(result)

const mib = 1_048_576
const refused = 'LIMIT_EXCEEDED'

/** Bounds of the workspace below their defaults, with what is just within them and what is just beyond, for each tool they bound. */
const table: readonly (readonly [Partial<Record<LimitName, number>>, readonly Row[]])[] = [
  [
    { outputBytes: 400 },
    [
      read({ path: 'a.txt' }, 'done'),
      read({ path: 'long' }, 'OUTPUT_LIMIT'),
      read({ path: 'long', offset: 0, length: 3_000 }, 'done'),
      list('dir', 'done'),
      list('many', 'OUTPUT_LIMIT'),
      write(`${'w'.repeat(200)}/${'w'.repeat(200)}`, '', 'OUTPUT_LIMIT'),
      write('small', '', 'done'),
      diff('done'),
      write('large', long, 'done'),
      diff('OUTPUT_LIMIT'),
      shell('echo out; echo err >&2', 'done'),
      shell('head -c 500 /dev/zero | tr "\\0" x', 'OUTPUT_LIMIT'),
      shell('head -c 500 /dev/zero | tr "\\0" x >&2', 'OUTPUT_LIMIT'),
      // Control characters are six times as long where they are told.
      shell('head -c 100 /dev/zero', 'OUTPUT_LIMIT'),
    ],
  ],
  [
    { outputBytes: 60 },
    [
      read({ path: 'a.txt', offset: 0, length: 1 }, 'OUTPUT_LIMIT'),
      list('.', 'OUTPUT_LIMIT'),
      write('a-name-that-is-not-much-longer', '', 'OUTPUT_LIMIT'),
    ],
  ],
  [
    { pathChars: 10 },
    [
      read({ path: 'dir/b.txt' }, 'done'),
      read({ path: './dir/b.txt' }, 'WORKSPACE_PATH'),
      list('././././.', 'done'),
      list('./././././.', 'WORKSPACE_PATH'),
      write('dir/c.text', 'x', 'done'),
      write('dir/c.text2', 'x', 'WORKSPACE_PATH'),
      exec(['pwd'], 'WORKSPACE_PATH', { cwd: './././dir/.' }),
      shell('echo x > dir/d.text', 'done'),
      shell('echo x > dir/d.text2', 'WORKSPACE_PATH'),
      // What cannot be named is counted, wherever the files are.
      { name: 'fs.list', args: { path: 'many' }, local: '"unlisted":20', isolated: '"unlisted":20' },
    ],
  ],
  [
    { argvItems: 3, argvBytes: 10, writeBytes: 6, processTimeoutMs: 900 },
    [
      exec(['echo', 'a', 'b'], 'done'),
      exec(['echo', 'a', 'b', 'c'], 'INVALID_ARGUMENTS'),
      exec(['echo', 'äää'], 'done'),
      exec(['echo', 'ääää'], 'INVALID_ARGUMENTS'),
      write('a.txt', 'äää', 'done'),
      write('a.txt', 'ääää', refused),
      exec(['true'], 'INVALID_ARGUMENTS', { timeoutMs: 901 }),
      exec(['sleep', '20'], 'PROCESS_TIMEOUT'),
      exec(['sleep', '20'], 'PROCESS_TIMEOUT', { timeoutMs: 100 }),
    ],
  ],
  [
    {
      workspaceFileBytes: 3_001,
      sandboxMemoryBytes: 96 * mib,
      sandboxProcesses: 16,
      sandboxDiskBytes: mib,
      sandboxCpuMs: 1_000,
    },
    [
      write('b', `${long}x`, 'done'),
      write('b', `${long}xx`, refused),
      shell('head -c 3001 /dev/zero | tr "\\0" x > c', 'done'),
      shell('head -c 3002 /dev/zero | tr "\\0" x > c', refused),
      exec(['node', '-e', 'const k = []; for (;;) k.push(Buffer.alloc(1e7, 1))'], failed),
      shell('for i in $(seq 1 40); do sleep 5 & done 2>&1; true', tellsOfForks),
      shell('dd if=/dev/zero of=/tmp/x bs=100k count=20 2>/dev/null', failed),
      shell('for i in 1 2 3 4; do head -c 300000 /dev/zero > /ws/f$i || exit 1; done', failed),
      shell('head -c 500000 /dev/zero > /tmp/x; sleep 0 & wait', 'done'),
      shell('while :; do :; done', failed),
    ],
  ],
  [
    { workspaceTreeBytes: 3_020 },
    [write('b', 'xxxxxxxx', 'done'), write('b', 'xxxxxxxxx', refused), shell('echo more >> b', refused)],
  ],
  [{ workspaceFiles: 24 }, [write('b', '', 'done'), write('c', '', refused), shell('echo > c', refused)]],
  // A source that is beyond a bound is refused to every tool that needs the copy.
  [{ workspaceFileBytes: 2_999 }, [write('b', '', refused), exec(['true'], refused)]],
  [{ workspaceTreeBytes: 3_011 }, [write('b', '', refused), exec(['true'], refused)]],
  [{ workspaceFiles: 22 }, [write('b', '', refused), exec(['true'], refused)]],
]

for (const driver of ['none', ...drivers] as const) {
  const harness = driver === 'none' ? null : await openHarness(driver)
  // A machine without this driver says so when the harness is opened, and fails there under CI.
  describe.skipIf(typeof harness === 'string')(`lowered bounds on ${driver}`, { timeout: 60_000 }, () => {
    if (typeof harness === 'string') return
    afterAll(() => harness?.dispose())

    it.each(table)('%j hold for each tool', async (bounds, rows) => {
      const calls = rows.map(({ name, args }) => ({ calls: [{ name, arguments: JSON.parse(JSON.stringify(args)) }] }))
      const runtime = await openRuntime({
        log: memoryLog(),
        model: scriptedModel({ name: 'm', turns: [[...calls, { text: 'Done.' }]] }),
        workspace: { from, isolation: driver, ...harness?.options },
        limits: bounds,
      })
      const session = runtime.session(scope)
      await (await session.start('go')).outcome()
      const ends = (await session.log()).flatMap((fact) =>
        fact.type === 'call.finished' ? [fact.data.code ?? 'done'] : [],
      )
      const results = (await session.messages()).filter(({ role }) => role === 'tool').map(({ content }) => content)
      expect(ends).toHaveLength(rows.length)
      for (const [at, row] of rows.entries()) {
        const expected = driver === 'none' ? row.local : row.isolated
        const what = `${row.name} ${JSON.stringify(row.args).slice(0, 80)}`
        const [end = '', result = ''] = [ends[at], results[at]]
        const { outputBytes } = bounds
        if (outputBytes !== undefined && end === 'done')
          expect(Buffer.byteLength(result), what).toBeLessThanOrEqual(outputBytes)
        if (typeof expected === 'function') expect(expected(result), `${what}: ${end} ${result}`).toBe(true)
        else if (expected.startsWith('"')) expect(result, what).toContain(expected)
        else expect(end, `${what}: ${result.slice(0, 200)}`).toBe(expected)
      }
      await runtime.close()
    })
  })
}
