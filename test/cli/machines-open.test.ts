import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { browserProgram } from '../../src/cli/open-browser.ts'
import { tempFolder } from '../log/temp-store.ts'
import { repoRoot } from '../repo/source-files.ts'
import { type Started, start } from './cli-process.ts'

vi.setConfig({ testTimeout: 60_000 })

const env = { BROWSER: 'none' }

/** Starts the page's server and reads the address that it prints. */
async function opened(words: readonly string[], cwd = tempFolder()): Promise<{ address: string; started: Started }> {
  const started = start(['machines', ...words, '--open'], { cwd, env })
  let out = ''
  started.process.stdout?.on('data', (part: string) => {
    out += part
  })
  await started.shows('http://127.0.0.1:')
  const address = /http:\/\/127\.0\.0\.1:\d+\/\w{32}\//.exec(out)?.[0]
  if (address === undefined) throw new Error(`no address in ${out}`)
  return { address, started }
}

/** Asks with headers that `fetch` does not let a program choose. */
function ask(address: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(address, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    asked.on('error', reject)
    asked.end()
  })
}

const simulateAt = (address: string, body: unknown) =>
  fetch(`${address}simulate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

it('serves one document that fetches nothing, and ends when it is told to', async () => {
  const { address, started } = await opened([])
  const page = await fetch(address)
  const html = await page.text()
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'sha256-/)
  expect(html.replaceAll('http://www.w3.org/', '')).not.toMatch(/https?:\/\//)
  expect(html).not.toMatch(/<(link|script|img)[^>]*\s(src|href)="(?!data:)/)
  for (const name of ['session', 'task', 'call']) expect(html).toContain(`The ${name} chart`)
  started.process.kill('SIGINT')
  expect((await started.ended).code).toBe(0)
})

it('simulates, and says what is wrong with what it was asked', async () => {
  const { address } = await opened(['task'])
  const played = await (await simulateAt(address, { chart: 'task', input: null, events: [] })).json()
  expect(played).toMatchObject({ simulation: { steps: [{ value: { pending: 'queued' } }] } })
  const refusals = [
    [{ chart: 'nothing', events: [] }, 'NOT_FOUND'],
    [{ chart: 'task', events: [{}] }, 'INVALID_INPUT'],
    ['no json', 'INVALID_INPUT'],
    [{ chart: 'task', events: [], filler: 'x'.repeat(1_100_000) }, 'LIMIT_EXCEEDED'],
  ] as const
  for (const [body, code] of refusals) {
    const refused = await simulateAt(address, body)
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({ code })
  }
})

it('answers only who knows the address, and no page of another origin', async () => {
  const { address } = await opened(['call'])
  const { origin, host } = new URL(address)
  expect(await ask(address, { host })).toBe(200)
  expect(await ask(`${origin}/`, { host })).toBe(404)
  expect(await ask(`${origin}/${'0'.repeat(32)}/`, { host })).toBe(404)
  expect(await ask(address, { host: 'landfall.example:80' })).toBe(404)
  expect(await ask(address, { host, origin: 'http://landfall.example' })).toBe(404)
})

it('shows the chart of a module, with its real guards', async () => {
  const cwd = tempFolder()
  const xstate = JSON.stringify(join(repoRoot, 'node_modules/xstate/dist/xstate.esm.js'))
  writeFileSync(
    join(cwd, 'lamp.machine.mjs'),
    `import { setup } from ${xstate}
     export const lamp = setup({ guards: { isDark: ({ event }) => event.lux < 10 } }).createMachine({
       id: 'lamp', initial: 'off', states: { off: { on: { PRESS: { guard: 'isDark', target: 'on' } } }, on: {} } })`,
  )
  const { address } = await opened(['./lamp.machine.mjs'], cwd)
  expect(await (await fetch(address)).text()).toContain('The lamp chart')
  const press = async (lux: number) =>
    (await (await simulateAt(address, { chart: 'lamp', events: [{ type: 'PRESS', lux }] })).json()) as {
      simulation: { steps: object[] }
    }
  expect((await press(5)).simulation.steps[1]).toMatchObject({ value: 'on', accepted: true })
  expect((await press(50)).simulation.steps[1]).toMatchObject({ value: 'off', refused: [{ guard: 'isDark' }] })
})

it('keeps what guards and a context print off the address, and tells no credential of a chart', async () => {
  const cwd = tempFolder()
  const xstate = JSON.stringify(join(repoRoot, 'node_modules/xstate/dist/xstate.esm.js'))
  const key = `sk-ant-api03-${'a1B2'.repeat(10)}`
  writeFileSync(
    join(cwd, 'talks.mjs'),
    `import { setup } from ${xstate}
     console.log('loading')
     const blow = () => { console.log('asked'); throw new Error('guard blew ${key}') }
     export const talks = setup({ guards: { blow } }).createMachine({
       id: 'talks', description: 'signs in with ${key}', context: () => { console.log('begun'); return { password: 'hunter2' } },
       initial: 'a', states: { a: { on: { GO: { guard: 'blow', target: 'b' } } }, b: {} } })`,
  )
  const { address, started } = await opened(['./talks.mjs', '--json'], cwd)
  const html = await (await fetch(address)).text()
  const answer = await (await simulateAt(address, { chart: 'talks', events: [{ type: 'GO' }] })).text()
  expect(JSON.parse(answer)).toMatchObject({
    simulation: { steps: [{ value: 'a' }, { error: expect.stringContaining('guard blew') }] },
  })
  expect(html + answer).not.toMatch(/sk-ant|hunter2/)
  started.process.kill('SIGINT')
  const { code, out, err } = await started.ended
  expect({ code, out: JSON.parse(out) }).toEqual({ code: 0, out: { address } })
  for (const words of ['loading', 'begun', 'asked']) expect(err).toContain(`${words}\n`)
})

it('serves the page of a chart that is too large to be drawn', async () => {
  const cwd = tempFolder()
  const xstate = JSON.stringify(join(repoRoot, 'node_modules/xstate/dist/xstate.esm.js'))
  writeFileSync(
    join(cwd, 'large.mjs'),
    `import { createMachine } from ${xstate}
     const names = Array.from({ length: 400 }, (_, at) => 's' + at)
     const on = (at) => ({ NEXT: names[(at + 1) % names.length] })
     export default createMachine({
       id: 'large', initial: 's0', states: Object.fromEntries(names.map((name, at) => [name, { on: on(at) }])) })`,
  )
  const { address } = await opened(['./large.mjs'], cwd)
  expect(await (await fetch(address)).text()).toContain('The chart is too large to be drawn: it has 400 arrows')
  const played = await (await simulateAt(address, { chart: 'large', events: [{ type: 'NEXT' }] })).json()
  expect(played).toMatchObject({ simulation: { steps: [{ value: 's0' }, { value: 's1' }] } })
})

it('opens a browser only where there may be one', () => {
  expect(browserProgram({}, 'linux')).toBeNull()
  expect(browserProgram({ DISPLAY: ':0' }, 'linux')).toEqual(['xdg-open'])
  expect(browserProgram({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toEqual(['xdg-open'])
  expect(browserProgram({}, 'darwin')).toEqual(['open'])
  expect(browserProgram({ BROWSER: 'firefox' }, 'linux')).toEqual(['firefox'])
  expect(browserProgram({ BROWSER: 'none', DISPLAY: ':0' }, 'linux')).toBeNull()
})
