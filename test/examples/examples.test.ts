import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { landfallProcess } from '../cli/cli-process.ts'
import { tempFolder } from '../log/temp-store.ts'

vi.setConfig({ testTimeout: 120_000 })

const here = fileURLToPath(new URL('.', import.meta.url))

/** Runs an example as its first line says, against the built package. */
function run(name: string, ...words: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [join(here, name), ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return child
}

async function ended(child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> {
  let [out, err] = ['', '']
  child.stdout?.on('data', (part: Buffer) => {
    out += part.toString()
  })
  child.stderr?.on('data', (part: Buffer) => {
    err += part.toString()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, err }
}

it('embed in an XState application', async () => {
  const { code, out, err } = await ended(run('embed-in-an-xstate-app.mjs', join(tempFolder(), 'app.db')))
  expect(err).toBe('')
  expect(out).toMatch(/^Here is .*a pot of tea.*\. You also said: with milk\n$/)
  expect(code).toBe(0)
})

it('property-test a tool of your own', async () => {
  const [{ code, out, err }, caught] = await Promise.all([
    ended(run('property-test-your-tool.mjs', '20')),
    ended(run('property-test-your-tool.mjs', '50', 'forgetful')),
  ])
  expect(err).toBe('')
  expect(out).toBe('held\n')
  expect(code).toBe(0)
  expect(caught.code).toBe(1)
  expect(caught.err).toContain('Counterexample: ')
  expect(caught.err).toMatch(/the log tells \d orders, the shop had less/)
})

it('draw a chart of your own', async () => {
  const drawn = await landfallProcess(['machines', './lamp.machine.mjs', '--format', 'svg'], { cwd: here })
  expect(drawn.err).toBe('')
  for (const words of ['[isDark]', 'after 60000', 'always', '/ ring'])
    expect(drawn.out.replace(/<[^>]*>/g, '')).toContain(words)
})

it('embed in a Hono application', async () => {
  const child = run('embed-in-a-hono-app.mjs', join(tempFolder(), 'app.db'))
  if (child.stdout === null) throw new Error('the example has no output')
  const [address] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  expect(await (await fetch(address)).text()).toBe('This is my own application.\n')
  const created = await fetch(`${address}/agent/v1/sessions/morning/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'start', input: 'One tea, please.' }),
  })
  expect(created.status).toBe(201)
  const { task } = (await created.json()) as { task: string }
  const waited = await fetch(`${address}/agent/v1/sessions/morning/tasks/${task}?wait=20`)
  expect(await waited.json()).toMatchObject({ id: task, status: 'completed' })
  child.kill('SIGTERM')
  expect((await ended(child)).code).toBe(0)
})

it('there is a test for every example', () => {
  const examples = readdirSync(here).filter((name) => name.endsWith('.mjs'))
  expect(examples.sort()).toEqual([
    'embed-in-a-hono-app.mjs',
    'embed-in-an-xstate-app.mjs',
    'lamp.machine.mjs',
    'property-test-your-tool.mjs',
  ])
})
