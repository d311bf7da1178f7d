import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { landfallProcess, start } from '../cli/cli-process.ts'
import { running } from '../contract/containment-contract.ts'
import { drivers, openHarness } from '../contract/kit/sandboxes.ts'
import { fingerprint } from './kit/sample-project.ts'

const library = fileURLToPath(new URL('../../dist', import.meta.url))
const somebody = fileURLToPath(new URL('./kit/as-somebody.mjs', import.meta.url))
const nobody = 65_534
const isRoot = process.getuid?.() === 0
const call = (name: string, args: object) => ({ calls: [{ name, arguments: args }] })

for (const driver of drivers) {
  const harness = await openHarness(driver)

  // A machine without this driver says so when the harness is opened, and fails there under CI.
  describe.skipIf(typeof harness === 'string')(`processes of a host on ${driver}`, { timeout: 120_000 }, () => {
    if (typeof harness === 'string') return
    const root = mkdtempSync(join(tmpdir(), 'landfall-hosts-'))
    chmodSync(root, 0o755)
    const from = mkdtempSync(join(root, 'source-'))
    chmodSync(from, 0o755)
    writeFileSync(join(from, 'a.txt'), 'source\n')
    const { image, socketPath } = harness.options
    // Leases and whatever else is temporary are kept apart from other runs on this machine.
    const env = {
      TMPDIR: root,
      ...(image === undefined ? {} : { LANDFALL_IMAGE: image }),
      ...(socketPath === undefined ? {} : { DOCKER_HOST: `unix://${socketPath}` }),
    }
    const leases = () => readdirSync(join(root, `landfall-sandboxes-${process.getuid?.()}`))
    const words = (name: string) => ['--db', `${name}.db`, '--model', `script:${name}.json`, '--workspace', from]
    const run = (name: string) => ['run', 'Go.', ...words(name), '--isolation', driver]
    const script = (name: string, steps: readonly object[]) =>
      writeFileSync(
        join(root, `${name}.json`),
        JSON.stringify({ name, turns: [[...steps, { text: 'Read: {{last}}' }]] }),
      )
    afterAll(async () => {
      await harness.dispose()
      rmSync(root, { recursive: true, force: true })
    })

    it('two of them on one source have each their own copy, and leave each other’s sandboxes alone', async () => {
      const before = fingerprint(from)
      const names = ['one', 'two']
      for (const name of names)
        script(name, [
          call('fs.write', { path: 'a.txt', contents: `${name}\n` }),
          call('process.exec', { argv: ['sh', '-c', `sleep 0.5; cat a.txt; echo ${name} >> shared.txt`] }),
          call('fs.read', { path: 'shared.txt' }),
        ])
      const both = await Promise.all(names.map((name) => landfallProcess(run(name), { cwd: root, env })))
      const patches = await Promise.all(
        names.map((name) => landfallProcess(['patch', '--db', `${name}.db`], { cwd: root, env })),
      )
      for (const [at, name] of names.entries()) {
        expect(both[at], both[at]?.err).toMatchObject({ code: 0 })
        expect(both[at]?.out).toContain(`"text":"${name}\\n"`)
        const { out = '' } = patches[at] ?? {}
        const target = mkdtempSync(join(root, 'target-'))
        writeFileSync(join(target, 'a.txt'), 'source\n')
        execFileSync('git', ['apply', '-'], { cwd: target, input: out })
        expect(execFileSync('cat', ['a.txt', 'shared.txt'], { cwd: target, encoding: 'utf8' })).toBe(
          `${name}\n${name}\n`,
        )
      }
      expect(fingerprint(from)).toEqual(before)
      expect(leases()).toEqual([])
    })

    it('one that is interrupted ends its program first', async () => {
      const mark = `interrupted-${driver}-${process.pid}`
      script('stop', [
        call('process.exec', { argv: ['sh', '-c', 'trap "" TERM INT; (setsid sleep 60 &); sleep 60', mark] }),
      ])
      const started = start(run('stop'), { cwd: root, env })
      for (let tries = 0; tries < 400 && running(mark).length < 2; tries += 1)
        await new Promise((done) => setTimeout(done, 25))
      expect(running(mark).length).toBeGreaterThan(0)
      started.process.kill('SIGINT')
      expect(await started.ended).toMatchObject({ code: 130 })
      expect(running(mark)).toEqual([])
      expect(leases()).toEqual([])
      const { out } = await landfallProcess(['log', '--db', 'stop.db'], { cwd: root, env })
      expect(out).toContain('"when":"acknowledged"')
    })

    // Whoever is not root has been somebody else in every test of this folder.
    it.runIf(isRoot)('one of another user than root has all of it too', async () => {
      const mark = `somebody-${driver}-${process.pid}`
      const place = mkdtempSync(join(root, 'leases-'))
      execFileSync('chown', [`${nobody}:${nobody}`, place])
      const group = socketPath === undefined ? nobody : statSync(socketPath).gid
      const workspace = { from, isolation: driver, ...harness.options, leases: join(place, 'own') }
      const as = ['--reuid', String(nobody), '--regid', String(group), '--clear-groups', process.execPath]
      expect(existsSync(library), 'the library is built (npm run build)').toBe(true)
      const { stdout } = await promisify(execFile)('setpriv', [
        ...as,
        somebody,
        library,
        mark,
        JSON.stringify(workspace),
      ])
      const { uid, results } = JSON.parse(stdout)
      expect(uid).toBe(nobody)
      const told = results.map(
        (result: { error?: { code: string }; exitCode?: number }) => result.error?.code ?? result.exitCode,
      )
      const [hog] = told.splice(6, 1)
      expect(told).toEqual([0, undefined, 0, 'PROCESS_TIMEOUT', 'OUTPUT_LIMIT', 0, 'WORKSPACE_PATH', undefined])
      expect(hog).not.toBe(0)
      expect(results[0].stdout).toBe('1000\nsource\n')
      expect(results[5].stdout).toBe('over\n')
      expect(results.at(-1).diff).toContain('+written\n+more\n')
      expect(running(mark)).toEqual([])
      expect(readdirSync(join(place, 'own'))).toEqual([])
    })
  })
}
