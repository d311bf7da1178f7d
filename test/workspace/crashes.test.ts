import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Docker from 'dockerode'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { Session } from '../../src/runtime/session.ts'
import { running } from '../contract/containment-contract.ts'
import { drivers, openHarness, type SandboxHarness } from '../contract/kit/sandboxes.ts'

const scope = { tenant: 't', user: 'u', session: 's' }
const library = fileURLToPath(new URL('../../dist', import.meta.url))
const module = fileURLToPath(new URL('./kit/doomed-process.mjs', import.meta.url))

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600 && !(await holds()); tries += 1) await new Promise((done) => setTimeout(done, 50))
  expect(await holds()).toBe(true)
}

/** In a namespace of its own: the sandbox, and not the child or what starts the sandbox. */
function isElsewhere(pid: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`) !== readlinkSync('/proc/self/ns/pid')
  } catch {
    return false
  }
}

/** Starts the child, waits until its sandbox is under way, and ends the child the hard way. */
async function killedInTheMiddle(file: string, mark: string, workspace: object): Promise<void> {
  expect(existsSync(library), 'the library is built (npm run build)').toBe(true)
  const child = spawn(process.execPath, [module, library, file, mark, JSON.stringify(workspace)], { stdio: 'inherit' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await until(() => running(mark).some(isElsewhere))
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function containers(harness: SandboxHarness): Promise<number> {
  if (harness.engine === null) return 0
  const engine = new Docker({ socketPath: harness.engine.socketPath })
  return (await engine.listContainers({ all: true, filters: { label: ['landfall.sandbox'] } })).length
}

async function cancelled(session: Session, mark: string): Promise<void> {
  await until(() => running(mark).length > 0)
  await session.cancel()
}

for (const driver of drivers) {
  // A daemon of its own, because a test stops it.
  const harness = await openHarness(driver, true)

  // A machine without this driver says so when the harness is opened, and fails there under CI.
  describe.skipIf(typeof harness === 'string')(`a program on ${driver}`, { timeout: 120_000 }, () => {
    if (typeof harness === 'string') return
    afterAll(() => harness.dispose())
    const folder = mkdtempSync(join(tmpdir(), 'landfall-crash-'))
    const from = join(folder)
    writeFileSync(join(from, 'a.txt'), 'source\n')
    afterAll(() => rmSync(folder, { recursive: true, force: true }))
    const workspace = { from, isolation: driver, ...harness.options }

    it('whose runtime is killed is gone; its call is unknown, its leftovers are swept, and the tree is the recorded one', async () => {
      const mark = `doomed-${driver}-${process.pid}`
      const file = join(mkdtempSync(join(tmpdir(), 'landfall-crash-store-')), 'a.db')
      await killedInTheMiddle(file, mark, workspace)
      if (driver === 'bubblewrap') await until(() => running(mark).length === 0)
      expect(readdirSync(harness.leases)).toHaveLength(1)
      const read = { name: 'fs.read', arguments: { path: 'a.txt' } }
      const model = scriptedModel({
        name: 'doomed',
        turns: [[{ text: '' }, { text: '' }, { calls: [read] }, { text: '{{last}}' }]],
      })
      const runtime = await openRuntime({ log: sqliteLog(file), model, workspace })
      await until(async () => readdirSync(harness.leases).length === 0 && (await containers(harness)) === 0)
      await until(() => running(mark).length === 0)
      const session = runtime.session(scope)
      const [task] = await session.tasks()
      const outcome = await session.task(task?.id ?? '').outcome()
      expect(outcome).toMatchObject({ status: 'completed', calls: { unknownMutating: 1, succeededMutating: 1 } })
      expect(outcome.message).toContain('recorded\\n')
      expect((await session.state()).quarantined).toHaveLength(1)
      expect(await session.patch()).toContain('+recorded')
      await runtime.close()
    })

    it('that is cancelled is gone with all that it started before its call says so', async () => {
      const mark = `cancelled-${driver}-${process.pid}`
      const exec = {
        name: 'process.exec',
        arguments: { argv: ['sh', '-c', `trap "" TERM; (setsid sleep 100 &); sleep 60`, mark] },
      }
      const model = scriptedModel({ name: 'm', turns: [[{ calls: [exec] }, { text: 'Done.' }]] })
      const runtime = await openRuntime({ log: memoryLog(), model, workspace })
      const session = runtime.session(scope)
      const task = await session.start('work')
      await cancelled(session, mark)
      expect(await task.outcome()).toMatchObject({ status: 'cancelled', calls: { cancelled: 1, unknownMutating: 0 } })
      expect(running(mark)).toEqual([])
      const ends = (await session.log()).filter(({ type }) => type === 'call.cancelled')
      expect(ends.map(({ data }) => data)).toEqual([{ when: 'acknowledged' }])
      expect(readdirSync(harness.leases)).toEqual([])
      await runtime.close()
    })

    // Only an engine that is somebody else's process can fail to end a sandbox.
    it.runIf(driver === 'docker')('that cannot be ended is unknown when the grace is over', async () => {
      const mark = `stuck-${driver}-${process.pid}`
      const exec = { name: 'process.exec', arguments: { argv: ['sh', '-c', 'sleep 60', mark] } }
      const model = scriptedModel({ name: 'm', turns: [[{ calls: [exec] }, { text: 'Done.' }]] })
      const runtime = await openRuntime({ log: memoryLog(), model, workspace, limits: { graceMs: 500 } })
      const session = runtime.session(scope)
      const task = await session.start('work')
      await until(() => running(mark).length > 0)
      const daemon = harness.engine?.pid ?? 0
      expect(daemon).toBeGreaterThan(1)
      process.kill(daemon, 'SIGSTOP')
      try {
        await session.cancel()
        expect(await task.outcome()).toMatchObject({ status: 'cancelled', calls: { unknownMutating: 1 } })
        expect((await session.state()).quarantined).toHaveLength(1)
      } finally {
        process.kill(daemon, 'SIGCONT')
      }
      await until(() => running(mark).length === 0)
      await runtime.close()
    })
  })
}
