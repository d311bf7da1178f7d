import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limits } from '../../../src/facts/limits.ts'
import { bubblewrapSandbox } from '../../../src/workspace/bubblewrap.ts'
import { dockerSandbox } from '../../../src/workspace/docker.ts'
import { Leases } from '../../../src/workspace/leases.ts'
import type { Sandbox, SandboxBounds } from '../../../src/workspace/sandbox.ts'
import { dockerEngine, type TestEngine } from './docker-engine.ts'

/** A real driver on this machine, with leases of its own. */
export interface SandboxHarness {
  readonly name: 'bubblewrap' | 'docker'
  readonly leases: string
  /** Options of a runtime's workspace that lead to the same driver. */
  readonly options: { readonly image?: string; readonly socketPath?: string; readonly leases: string }
  readonly engine: TestEngine | null
  make(bounds?: Partial<SandboxBounds>): Sandbox
  dispose(): Promise<void>
}

export const drivers = ['bubblewrap', 'docker'] as const

/**
 * Opens the driver, or says loudly why it cannot be had here. With CI=true that is a failure: what is not tested there is tested
 * nowhere.
 */
export async function openHarness(name: 'bubblewrap' | 'docker', own = false): Promise<SandboxHarness | string> {
  const found = await harnessOf(name, own)
  if (typeof found !== 'string') return found
  if (process.env.CI === 'true') throw new Error(`${name} cannot be tested: ${found}`)
  process.stderr.write(`\nNOT TESTED HERE: ${name}. ${found}\n`)
  return found
}

async function harnessOf(name: 'bubblewrap' | 'docker', own: boolean): Promise<SandboxHarness | string> {
  const engine = name === 'docker' ? await dockerEngine(own) : null
  if (typeof engine === 'string') return engine
  const leases = mkdtempSync(join(tmpdir(), 'landfall-leases-'))
  const where = engine === null ? {} : { image: engine.image, socketPath: engine.socketPath }
  const make = (bounds: Partial<SandboxBounds> = {}): Sandbox => {
    const options = { bounds: { ...limits, ...bounds }, leases: new Leases(leases), ...where }
    return name === 'docker' ? dockerSandbox(options) : bubblewrapSandbox(options)
  }
  const dispose = async () => {
    rmSync(leases, { recursive: true, force: true })
    await engine?.stop()
  }
  const report = await make().report()
  if (report.works) return { name, leases, options: { ...where, leases }, engine, make, dispose }
  await dispose()
  return report.detail
}
