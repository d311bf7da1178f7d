import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Docker from 'dockerode'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { Outcome } from '../../src/runtime/outcome.ts'
import type { Session } from '../../src/runtime/session.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import { sweepSandboxes, type WorkspaceOptions } from '../../src/workspace/open-workspace.ts'
import { running } from '../contract/containment-contract.ts'
import { drivers, openHarness, type SandboxHarness } from '../contract/kit/sandboxes.ts'

const scope = { tenant: 't', user: 'u', session: 's' }
const library = fileURLToPath(new URL('../../dist', import.meta.url))
const module = fileURLToPath(new URL('./kit/doomed-process.mjs', import.meta.url))

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3_000 && !(await holds()); tries += 1) await new Promise((done) => setTimeout(done, 10))
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

/** Starts the child, waits until its sandbox is under way or so long after it was asked for, and ends the child the hard way. */
async function killedAt(moment: string | number, file: string, mark: string, workspace: object): Promise<void> {
  expect(existsSync(library), 'the library is built (npm run build)').toBe(true)
  const slow = moment === 'starting' ? slowBubblewrap(mark) : null
  const child = doomed(file, mark, workspace, slow === null ? {} : { PATH: `${slow}:${process.env.PATH}` })
  await once(child.stdout ?? child, 'data')
  if (slow !== null) await until(() => existsSync(join(slow, 'reached')))
  else if (typeof moment === 'number') await new Promise((done) => setTimeout(done, moment))
  else await until(() => running(mark).some(isElsewhere))
  await killed(child)
}

function doomed(file: string, mark: string, workspace: object, env: object): ChildProcess {
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit']
  const child = spawn(process.execPath, [module, library, file, mark, JSON.stringify(workspace)], {
    stdio,
    env: { ...process.env, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** A bubblewrap that begins a while after its process: whoever has started it is gone before it can watch for that. */
function slowBubblewrap(mark: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-bwrap-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const slow = `case "$*" in *${mark}*) echo > ${folder}/reached; sleep 0.5 ;; esac`
  writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n${slow}\nexec ${bubblewrap()} "$@"\n`, { mode: 0o755 })
  chmodSync(folder, 0o777)
  return folder
}

const bubblewrap = (): string => execFileSync('which', ['bwrap'], { encoding: 'utf8' }).trim()

async function killed(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** What becomes of a store whose process was killed while its program was asked for, when somebody opens it again. */
async function reopened(file: string, workspace: WorkspaceOptions): Promise<Outcome> {
  const read = { name: 'fs.read', arguments: { path: 'a.txt' } }
  const turn = [{ text: '' }, { text: '' }, { calls: [read] }, { text: '{{last}}' }]
  const model = scriptedModel({ name: 'doomed', turns: [turn] })
  const runtime = await openRuntime({ log: sqliteLog(file), model, workspace })
  const session = runtime.session(scope)
  const [task] = await session.tasks()
  const outcome = await session.task(task?.id ?? '').outcome()
  expect((await session.state()).quarantined).toHaveLength(outcome.calls.unknownMutating)
  expect(await session.patch()).toContain('+recorded')
  expect(checkLog(await session.log()).violations).toEqual([])
  await runtime.close()
  return outcome
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

/** Something that keeps a sandbox from being ended, or from being seen to have ended. */
interface Stuck {
  hold(): Promise<void>
  release(): void
}

/** An engine that does not answer cannot end a container. */
function engineOf({ engine }: SandboxHarness): Stuck {
  const daemon = engine?.pid ?? 0
  expect(daemon).toBeGreaterThan(1)
  return { hold: async () => void process.kill(daemon, 'SIGSTOP'), release: () => void process.kill(daemon, 'SIGCONT') }
}

/** A bubblewrap beside which a process out of reach keeps what the sandbox is heard by: nobody can say that it is over. */
function clingingBubblewrap(mark: string): Stuck {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-bwrap-'))
  const { PATH = '' } = process.env
  const real = bubblewrap()
  const out = `setsid sh -c 'echo $$ > ${folder}/new; mv ${folder}/new ${folder}/pid; exec sleep 600' &`
  const clinging = `case "$*" in *${mark}*) ${out} ;; esac`
  writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n${clinging}\nexec ${real} "$@"\n`, { mode: 0o755 })
  // Whoever the sandbox is started as must be able to say which process it is.
  chmodSync(folder, 0o777)
  process.env.PATH = `${folder}:${PATH}`
  const release = () => {
    process.env.PATH = PATH
    process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGKILL')
    rmSync(folder, { recursive: true })
  }
  return { hold: () => until(() => existsSync(join(folder, 'pid'))), release }
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

    it('whose runtime is killed at any moment of it is gone; its call is unknown, and the tree is the recorded one', async () => {
      const stores = mkdtempSync(join(tmpdir(), 'landfall-crash-store-'))
      const mark = `killed-${driver}-${process.pid}`
      // When it is seen to run, and at times drawn once over what asking for a sandbox and starting it take.
      const moments = ['running', ...(driver === 'docker' ? [0, 90, 270] : ['starting', 0, 11, 40])]
      const storeOf = (moment: string | number) => join(stores, `${moment}.db`)
      await Promise.all(moments.map((moment) => killedAt(moment, storeOf(moment), `${mark}-${moment}-`, workspace)))
      // The kernel ends what is below bubblewrap; a container is there until somebody opens something, or its watchdog wakes.
      if (driver === 'bubblewrap') await until(() => running(mark).length === 0)
      expect(readdirSync(harness.leases).length).toBeGreaterThan(0)
      for (const outcome of await Promise.all(moments.map((moment) => reopened(storeOf(moment), workspace)))) {
        expect(outcome).toMatchObject({ status: 'completed', calls: { unknownMutating: 1, succeededMutating: 1 } })
        expect(outcome.message).toContain('recorded\\n')
      }
      await until(async () => running(mark).length === 0 && (await containers(harness)) === 0)
      // A lease for a container that never came to be counts a while longer, which need not be waited for here.
      for (const file of readdirSync(harness.leases)) utimesSync(join(harness.leases, file), 1, 1)
      await sweepSandboxes(harness.options)
      expect(readdirSync(harness.leases)).toEqual([])
      rmSync(stores, { recursive: true })
    })

    it('that is cancelled is gone with all that it started before its call says so', async () => {
      const mark = `cancelled-${driver}-${process.pid}`
      const exec = {
        name: 'process.exec',
        arguments: { argv: ['sh', '-c', `trap "" TERM; (setsid sleep 100 &); sleep 60`, mark] },
      }
      // What waits for the program is told to stop with it, and writes nothing.
      const write = { name: 'fs.write', arguments: { path: 'late.txt', contents: 'late' } }
      const model = scriptedModel({ name: 'm', turns: [[{ calls: [exec, write] }, { text: 'Done.' }]] })
      const runtime = await openRuntime({ log: memoryLog(), model, workspace })
      const session = runtime.session(scope)
      const task = await session.start('work')
      await cancelled(session, mark)
      expect(await task.outcome()).toMatchObject({ status: 'cancelled', calls: { cancelled: 2, unknownMutating: 0 } })
      expect(running(mark)).toEqual([])
      const ends = (await session.log()).filter(({ type }) => type === 'call.cancelled')
      expect(ends.map(({ data }) => data)).toContainEqual({ when: 'acknowledged' })
      expect(await session.patch()).toBe('')
      expect(readdirSync(harness.leases)).toEqual([])
      await runtime.close()
    })

    it('that cannot be ended is unknown when the grace is over', async () => {
      const mark = `stuck-${driver}-${process.pid}`
      const stuck = driver === 'docker' ? engineOf(harness) : clingingBubblewrap(mark)
      const exec = { name: 'process.exec', arguments: { argv: ['sh', '-c', 'sleep 60', mark] } }
      const model = scriptedModel({ name: 'm', turns: [[{ calls: [exec] }, { text: 'Done.' }]] })
      const runtime = await openRuntime({ log: memoryLog(), model, workspace, limits: { graceMs: 500 } })
      const session = runtime.session(scope)
      const task = await session.start('work')
      await until(() => running(mark).length > 0)
      await stuck.hold()
      try {
        await session.cancel()
        expect(await task.outcome()).toMatchObject({ status: 'cancelled', calls: { unknownMutating: 1 } })
        expect((await session.state()).quarantined).toHaveLength(1)
      } finally {
        stuck.release()
      }
      await until(() => running(mark).length === 0)
      await runtime.close()
    })
  })
}
