import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openHarness } from '../contract/kit/sandboxes.ts'

const harness = await openHarness('bubblewrap')
const library = fileURLToPath(new URL('../../dist', import.meta.url))
const once = fileURLToPath(new URL('kit/exec-once.mjs', import.meta.url))
const number = 90

// A machine without it says so when the harness is opened, and fails there under CI.
describe.skipIf(typeof harness === 'string')('what the host process was started with', { timeout: 60_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), 'landfall-inherited-'))
  let secret = -1

  beforeAll(() => {
    writeFileSync(join(root, 'secret'), 'the secret of the host\n')
    secret = openSync(join(root, 'secret'), 'r+')
  })

  afterAll(async () => {
    closeSync(secret)
    rmSync(root, { recursive: true, force: true })
    if (typeof harness !== 'string') await harness.dispose()
  })

  it('is not open in the sandbox, under whatever number', () => {
    const script = `ls -l /proc/self/fd; cat /proc/self/fd/${number}; cat <&${number} 2>&1; true`
    const stdio = ['ignore', 'pipe', 'pipe', ...Array<'ignore'>(number - 3).fill('ignore'), secret] as const
    const { stdout, stderr } = spawnSync(process.execPath, [once, library, 'sh', '-c', script], {
      stdio: [...stdio],
      encoding: 'utf8',
    })
    expect(stderr).not.toMatch(/Error/)
    expect(stdout).toContain(' 0 -> /dev/null')
    expect(stdout).not.toContain(root)
    expect(stdout).not.toContain('the secret of the host')
  })
})
