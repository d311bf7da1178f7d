import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { main } from '../cli/cli-process.ts'
import { tempFolder } from '../log/temp-store.ts'
import { snippetsOf, tourFiles } from '../repo/readme.ts'
import { repoRoot } from '../repo/source-files.ts'

vi.setConfig({ testTimeout: 120_000 })

const hasCurl = spawnSync('curl', ['--version']).status === 0

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A folder as a user has it, with `landfall` on the path and the package where imports find it. */
function place(files: readonly { name: string; body: string }[]): string {
  const folder = tempFolder()
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(repoRoot, join(folder, 'node_modules/landfall'))
  symlinkSync(join(repoRoot, 'node_modules/zod'), join(folder, 'node_modules/zod'))
  writeFileSync(join(folder, 'bin/landfall'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 })
  for (const { name, body } of files) writeFileSync(join(folder, name), body)
  return folder
}

function shell(script: string, folder: string): Promise<Ran> {
  const { LANDFALL_DB: _db, ...env } = process.env
  const child = spawn('sh', ['-e', '-c', script], {
    cwd: folder,
    env: { ...env, PATH: `${join(folder, 'bin')}:${env.PATH}` },
    detached: true,
  })
  // The script leaves a server behind, which is in the group of its shell.
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // Nothing of the group is left.
    }
  }
  onTestFinished(end)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    out += part
  })
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    err += part
  })
  return new Promise((resolve) => {
    child.on('exit', (code) => {
      end()
      child.on('close', () => resolve({ code, out, err }))
    })
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

it('curl alone does what the README says: start, steer, approve, queue, supersede, cancel, acknowledge, read, watch and the rest', async (context) => {
  if (!hasCurl) {
    if (process.env.CI === 'true') throw new Error('curl is missing: apt-get install curl')
    context.skip('curl is missing: apt-get install curl')
  }
  expect(existsSync(main), 'the command is built (npm run build)').toBe(true)
  const snippets = snippetsOf(readFileSync(join(repoRoot, 'README.md'), 'utf8'))
  const blocks = snippets.filter(({ language, notes }) => language === 'sh' && notes.includes('curl'))
  expect(blocks.length).toBeGreaterThan(3)
  const folder = place(tourFiles(snippets))
  const script = blocks
    .map(({ body }) => body)
    .join('\n')
    .replaceAll('4180', String(await freePort()))
  const { code, out, err } = await shell(script, folder)
  expect(code, `${out}\n${err}`).toBe(0)
  expect(out).toContain('Done. You added: The green one.')
  expect(out).toContain('Nobody knows whether it arrived.')
  const facts = out.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
  const seqs = facts.filter(({ seq }) => seq !== undefined).map(({ seq }) => seq)
  expect(seqs).toEqual(seqs.map((_: number, at: number) => at + 1))
  const told = facts.map(({ type }) => type)
  for (const type of [
    ...['steering.applied', 'pause.settled', 'call.finished', 'task.completed', 'task.superseded', 'task.cancelled'],
    ...['call.unknown', 'mutation.quarantined', 'mutation.acknowledged'],
  ])
    expect(told, type).toContain(type)
  expect(out).toContain('You said: Say goodbye.')
  const all = spawnSync(process.execPath, [main, 'log', '--session', 'tea'], { cwd: folder, encoding: 'utf8' })
  const log = all.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).type)
  for (const type of [
    ...['task.blocked', 'task.unblocked', 'task.input_replaced', 'pause.requested', 'pause.settled', 'grant.reduced'],
    ...['session.closed', 'session.reopened', 'session.erased'],
  ])
    expect(log, type).toContain(type)
  const verified = spawnSync(process.execPath, [main, 'verify', '--all'], { cwd: folder, encoding: 'utf8' })
  expect(verified.stdout).toMatch(/^ok local\/local\/copy /m)
  expect([verified.status, verified.stdout]).toEqual([0, expect.stringContaining('local/local/tea')])
})
