import { spawn } from 'node:child_process'
import { limits } from '../../facts/limits.ts'
import { bubblewrapSandbox } from '../../workspace/bubblewrap.ts'
import { Leases } from '../../workspace/leases.ts'
import { sandboxEnvironment } from '../../workspace/sandbox.ts'
import { emptyTree } from '../../workspace/tree.ts'
import type { BenchCase } from '../case.ts'
import { sized } from '../environment.ts'
import { elapsedMs, interleave } from '../measure.ts'
import { sampledRow } from '../result.ts'

const argv = ['node', '-e', '0']

/** With what a program in a sandbox has: a session, between which systems share their time, and an environment, by which node starts. */
function bareNode(): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, argv.slice(1), {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: { ...sandboxEnvironment },
    })
    child.once('error', fail)
    child.once('close', (code) => (code === 0 ? done() : fail(new Error(`node ended with ${code}`))))
  })
}

/** What a program costs in a sandbox of its own, tree in and out, beside the same program without one. */
export const sandboxStart: BenchCase = {
  name: 'sandbox-start',
  run: async (env) => {
    const rounds = sized(env, { quick: 5, normal: 30 })
    const sandbox = bubblewrapSandbox({ bounds: limits, leases: new Leases(env.directory()) })
    const report = await sandbox.report()
    const { signal } = new AbortController()
    const once = () => sandbox.run({ tree: emptyTree, argv, cwd: '', timeoutMs: limits.processTimeoutMs, signal })
    const samples = await interleave<'sandbox' | 'bare'>(
      { rounds },
      { sandbox: report.works ? () => elapsedMs(once) : null, bare: () => elapsedMs(bareNode) },
    )
    const body = {
      name: 'sandbox-start',
      conditions: `bubblewrap, an empty tree, node -e 0, ${rounds} interleaved rounds; floor: the bare process`,
      rows: [
        sampledRow({ what: 'sandbox and program', unit: 'ms', goal: 'ratio ≤ 3' }, samples.sandbox, samples.bare ?? []),
      ],
    }
    if (report.works) return { ...body, availability: 'measured' }
    return { ...body, availability: 'not available yet', reason: report.detail }
  },
}
