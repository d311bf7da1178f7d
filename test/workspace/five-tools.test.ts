import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime, type Runtime } from '../../src/runtime/open-runtime.ts'
import type { Session } from '../../src/runtime/session.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import { verifyStore } from '../../src/testing/verify-store.ts'
import { drivers, openHarness } from '../contract/kit/sandboxes.ts'
import { fingerprint, fixed, sampleProject } from './kit/sample-project.ts'

const scope = { tenant: 't', user: 'u', session: 's' }
const call = (name: string, args: Record<string, string | string[]>) => ({ calls: [{ name, arguments: args }] })
const runTests = call('process.exec', { argv: ['node', '--test', 'test/add.test.js'] })

const repair = [
  [
    call('fs.list', { path: 'test' }),
    call('fs.read', { path: 'test/add.test.js' }),
    runTests,
    call('fs.write', { path: 'src/add.js', contents: fixed }),
    runTests,
    call('git.diff', {}),
    { text: 'Repaired.' },
  ],
  [
    call('fs.read', { path: 'src/add.js' }),
    call('fs.write', { path: 'NOTES.md', contents: 'Repaired.\n' }),
    { text: 'Noted.' },
  ],
]

async function results(session: Session): Promise<readonly Record<string, unknown>[]> {
  const messages = await session.messages()
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(content))
}

const folders: string[] = []
const temporary = (made: string): string => {
  folders.push(made)
  return made
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

for (const driver of drivers) {
  const harness = await openHarness(driver)
  const options = typeof harness === 'string' ? {} : harness.options
  const open = (log: ReturnType<typeof memoryLog>, from: string): Promise<Runtime> =>
    openRuntime({
      log,
      model: scriptedModel({ name: 'repair', turns: repair }),
      workspace: { from, isolation: driver, ...options },
    })

  // A machine without this driver says so when the harness is opened, and fails there under CI.
  describe.skipIf(typeof harness === 'string')(`the five tools on ${driver}`, { timeout: 120_000 }, () => {
    afterAll(() => (typeof harness === 'string' ? undefined : harness.dispose()))

    it('repair a project, which stays as it was; the patch does to it what the tools did to the copy', async () => {
      const from = temporary(sampleProject())
      const before = fingerprint(from)
      const log = memoryLog()
      const runtime = await open(log, from)
      const session = runtime.session(scope)
      expect(await session.patch().catch((error: unknown) => error)).toMatchObject({ code: 'NOT_FOUND' })
      const outcome = await (await session.start('Repair it.')).outcome()
      expect(outcome).toMatchObject({
        status: 'completed',
        message: 'Repaired.',
        calls: { failed: 0, succeededMutating: 3 },
      })
      const [list, read, failing, , passing, diff] = await results(session)
      expect(list).toMatchObject({ entries: [{ name: 'add.test.js' }] })
      expect(read).toMatchObject({ text: expect.stringContaining("test('adds'") })
      expect(failing).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('fail 1') })
      expect(passing).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('pass 1'), changed: 0 })
      expect(diff).toMatchObject({ files: 1, diff: expect.stringContaining('+export const add = (a, b) => a + b') })
      expect(fingerprint(from)).toEqual(before)
      const trees = (await session.log()).flatMap((fact) => (fact.type === 'call.finished' ? [fact.data.tree] : []))
      expect(trees.map((tree) => tree !== undefined)).toEqual([false, false, true, true, true, false])
      expect(new Set(trees.filter((tree) => tree !== undefined)).size).toBe(2)
      const patch = await session.patch()
      expect(checkLog(await session.log()).violations).toEqual([])
      await session.erase()
      expect(await session.patch().catch((error: unknown) => error)).toMatchObject({ code: 'SESSION_ERASED' })
      await runtime.close()
      const target = temporary(mkdtempSync(join(tmpdir(), 'landfall-target-')))
      cpSync(from, target, { recursive: true })
      expect(
        spawnSync('node', ['--test', 'test/add.test.js'], { cwd: target, env: { PATH: process.env.PATH } }).status,
      ).toBe(1)
      rmSync(join(target, '.git'), { recursive: true })
      execFileSync('git', ['apply', '-'], { cwd: target, input: patch })
      expect(
        spawnSync('node', ['--test', 'test/add.test.js'], { cwd: target, env: { PATH: process.env.PATH } }).status,
      ).toBe(0)
    })

    it('go on with the recorded tree in a later turn, in another process, from another source, and verify', async () => {
      const from = temporary(sampleProject())
      const folder = temporary(mkdtempSync(join(tmpdir(), 'landfall-store-')))
      const first = await open(sqliteLog(join(folder, 'a.db')), from)
      await (await first.session(scope).start('Repair it.')).outcome()
      await first.close()
      const other = temporary(mkdtempSync(join(tmpdir(), 'landfall-other-')))
      writeFileSync(join(other, 'unrelated.txt'), 'nothing of this is seen\n')
      const log = sqliteLog(join(folder, 'a.db'))
      const second = await open(log, other)
      const session = second.session(scope)
      expect(await (await session.start('Go on.')).outcome()).toMatchObject({ message: 'Noted.', calls: { failed: 0 } })
      expect((await results(session)).at(-2)).toMatchObject({ text: fixed })
      const patch = await session.patch()
      expect(patch).toContain('b/NOTES.md')
      expect(patch).toContain('+export const add = (a, b) => a + b')
      expect(patch).not.toContain('unrelated')
      await second.close()
      const reading = sqliteLog(join(folder, 'a.db'), { readonly: true })
      const verdicts = []
      for await (const verdict of verifyStore(reading)) verdicts.push(verdict)
      expect(verdicts).toMatchObject([{ violations: [] }])
      await reading.close()
    })
  })
}
