import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import Docker from 'dockerode'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { limits } from '../../src/facts/limits.ts'
import { dockerSandbox } from '../../src/workspace/docker.ts'
import { Leases } from '../../src/workspace/leases.ts'
import { sweepSandboxes } from '../../src/workspace/open-workspace.ts'
import { entry } from '../../src/workspace/tar.ts'
import { openHarness } from '../contract/kit/sandboxes.ts'
import { sampleTree } from '../contract/sandbox-contract.ts'
import { type EngineProxy, engineProxy } from './kit/engine-proxy.ts'

const harness = await openHarness('docker')
const isMissing = typeof harness === 'string'

// A machine without it says so when the harness is opened, and fails there under CI.
describe.skipIf(isMissing)('an engine', { timeout: 60_000 }, () => {
  if (isMissing) return
  const { image = '', socketPath = '' } = harness.options
  const engine = new Docker({ socketPath })
  let proxy: EngineProxy | null = null
  afterEach(async () => {
    await proxy?.stop()
    proxy = null
  })
  afterAll(() => harness.dispose())

  const through = async (on: Parameters<typeof engineProxy>[1], of = image) => {
    proxy = await engineProxy(socketPath, on)
    const leases = new Leases(harness.leases)
    return dockerSandbox({ bounds: limits, leases, image: of, socketPath: proxy.socketPath })
  }
  const run = (argv: readonly string[], signal = new AbortController().signal) => {
    return { tree: sampleTree, argv, cwd: '', timeoutMs: 10_000, signal }
  }
  /** Other tests may use the same engine, so that only containers of the last sandbox count. */
  const left = async () => {
    const all = await engine.listContainers({ all: true, filters: { label: ['landfall.sandbox'] } })
    return all.flatMap(({ Names }) => Names.map((name) => name.slice(1))).filter((name) => proxy?.names.includes(name))
  }

  it('is asked how a container ends before that can be over', async () => {
    const sandbox = await through({})
    const ends = await Promise.all(Array.from({ length: 6 }, () => sandbox.run(run(['true']))))
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0, 0])
    const starts = proxy?.asked.filter((asked) => asked.endsWith('/start')) ?? []
    expect(starts).toHaveLength(6)
    for (const start of starts) {
      const asked = proxy?.asked.indexOf(start.replace('/start', '/wait')) ?? -1
      expect(asked).toBeGreaterThan(-1)
      expect(asked).toBeLessThan(proxy?.asked.indexOf(start) ?? -1)
    }
  })

  it('that was asked too late says that it does not know, which is no unknown outcome: nothing is kept', async () => {
    const gone = async () => {
      // Until the container has come and gone again.
      while ((await left()).length === 0) await new Promise((done) => setTimeout(done, 5))
      while ((await left()).length > 0) await new Promise((done) => setTimeout(done, 5))
    }
    let removed = Promise.resolve()
    const sandbox = await through({
      before: (asked) => {
        if (asked.endsWith('/attach')) removed = gone()
        return asked.endsWith('/wait') ? removed : undefined
      },
    })
    await expect(sandbox.run(run(['true']))).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' })
    expect(readdirSync(harness.leases)).toEqual([])
  })

  it.each(['create', 'attach', 'start', 'wait'])(
    'that is lost at %s fails the call with a code or leaves it unknown',
    async (at) => {
      let isLost = false
      const sandbox = await through({
        lost: (asked) => {
          isLost ||= asked.endsWith(`/${at}`)
          return isLost
        },
      })
      const error = await sandbox.run(run(['sh', '-c', 'sleep 5'])).catch((given: unknown) => given)
      // Once a program may run and nobody can be asked, nobody knows.
      const isUnknown = ['start', 'wait'].includes(at)
      expect(error).toMatchObject(isUnknown ? { name: 'OutcomeUnknownError' } : { code: 'WORKSPACE_FAILED' })
      // What may be left is named by its lease, and gone with it when the process is.
      const names = readdirSync(harness.leases).map((file) => `landfall-${file.replace('.json', '')}`)
      for (const name of await left()) expect(names).toContain(name)
      for (const file of readdirSync(harness.leases)) forget(join(harness.leases, file))
      await sweepSandboxes({ leases: harness.leases, socketPath })
      expect(readdirSync(harness.leases)).toEqual([])
      expect(await left()).toEqual([])
    },
  )

  it('whose image has no shell does not work, which is said before anything is asked of it', async () => {
    const bare = 'landfall-test:bare'
    const files = [...entry({ name: 'nothing', mode: 0o644, type: '0', seconds: 0 }), Buffer.alloc(1_024)]
    const stream = await engine.importImage(Readable.from(files), { repo: 'landfall-test', tag: 'bare' })
    await new Promise<void>((done) => engine.modem.followProgress(stream, () => done()))
    const sandbox = await through({}, bare)
    const report = await sandbox.report()
    expect(report).toMatchObject({ works: false, bounds: [] })
    expect(report.detail).toContain(`The image ${bare} needs a shell and tar.`)
    await engine.getImage(bare).remove()
    expect(await sandbox.report()).toMatchObject({ works: false, detail: expect.stringContaining('docker pull') })
    expect([await left(), readdirSync(harness.leases)]).toEqual([[], []])
  })
})

/** As if the process that holds the lease were gone. */
function forget(file: string): void {
  const record = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...record, startedAt: 1 }))
  // What the engine was asked for may still be on its way for a moment.
  const taken = Date.now() / 1_000 - 8
  utimesSync(file, taken, taken)
}
