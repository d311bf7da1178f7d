import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { main } from '../cli/cli-process.ts'
import { repoRoot } from '../repo/source-files.ts'
import { hasChromium, launch, newPage, sayWithoutChromium } from './chromium.ts'
import { faintTexts, misplaced } from './contrast.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })
const patience = { timeout: 30_000, interval: 10 }
sayWithoutChromium()

const xstate = pathToFileURL(join(repoRoot, 'node_modules/xstate/dist/xstate.esm.js')).href
const lamp = `import { setup } from '${xstate}'
export const lamp = setup({ guards: { isDark: ({ event }) => event.lux < 10 } }).createMachine({
  id: 'lamp', initial: 'off',
  states: { off: { on: { PRESS: { guard: 'isDark', target: 'on', actions: 'ring' } } }, on: { after: { 1000: 'off' } } },
})`

const unbegun = `import { createMachine } from '${xstate}'
export const circles = createMachine({ initial: 'a', states: { a: { always: 'b' }, b: { always: 'a' } } })
export const asks = createMachine({
  initial: 'here', context: ({ input }) => ({ name: input.name + ', 10n' }), states: { here: {} },
})
const names = Array.from({ length: 400 }, (_, at) => 's' + at)
export const large = createMachine({
  initial: 's0',
  states: Object.fromEntries(names.map((name, at) => [name, { on: { NEXT: names[(at + 1) % names.length] } }])),
})`

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('the chart page', () => {
  let browser: Browser
  let address: string
  const folder = mkdtempSync(join(tmpdir(), 'landfall-charts-'))
  const commands: ChildProcess[] = []

  /** The command as a reader types it; one process serves the tests that look at the same charts. */
  async function served(words: readonly string[]): Promise<string> {
    const command = spawn(process.execPath, [main, 'machines', ...words, '--open', '--json'], {
      cwd: folder,
      env: { ...process.env, BROWSER: 'none' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    commands.push(command)
    const [line] = (await once(createInterface({ input: command.stdout as Readable }), 'line')) as [string]
    return (JSON.parse(line) as { address: string }).address
  }

  beforeAll(async () => {
    ;[browser, address] = await Promise.all([launch(), served([])])
  })
  afterAll(async () => {
    for (const command of commands) command.kill('SIGINT')
    rmSync(folder, { recursive: true, force: true })
  })

  async function open(chart?: string): Promise<{ page: Page; problems: string[] }> {
    const opened = await newPage(browser, address)
    if (chart !== undefined) await click(opened.page, chart)
    return opened
  }

  const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click()
  const state = (page: Page) => page.locator('.value')
  const active = (page: Page) =>
    page.locator('[data-state].active').evaluateAll((all) => all.map((each) => each.getAttribute('data-state')))
  const colour = (page: Page, of: string) =>
    page
      .locator(of)
      .first()
      .evaluate((element) => getComputedStyle(element).backgroundColor)

  it('draws a chart and plays facts through it: state, guards, what is asked for', async () => {
    const { page, problems } = await open()
    await click(page, 'task')
    await expect.poll(() => active(page), patience).toEqual(['task', 'task.pending', 'task.pending.queued'])
    await click(page, 'task.started')
    await expect.poll(() => state(page).textContent(), patience).toBe('running.boundary.ready')
    expect(await page.locator('.asked').textContent()).toContain('continueTurn')
    await click(page, 'model.requested (the turn)')
    await expect.poll(() => page.locator('.asked').textContent(), patience).toBe('sendRequest{"task":"task-1"}')
    await expect.poll(() => active(page), patience).toContain('task.running.requesting')
    const taken = page.locator('.arrow.taken')
    expect(await taken.getAttribute('data-target')).toBe('task.running.requesting')

    await click(page, 'task.completed')
    await expect.poll(() => page.locator('p.refused').textContent(), patience).toBe('task.completed was refused.')
    expect(await page.locator('.guards').textContent()).toContain('isDescendants said no in task.running')
    expect(await state(page).textContent()).toBe('running.requesting')
    expect(problems).toEqual([])
  })

  it('plays commands: the facts that an accepted one drafts, and the code that refuses another one', async () => {
    const { page, problems } = await open('task')
    const told = page.locator('.now [aria-live]')
    expect(await page.getByRole('button', { name: 'steer', exact: true }).getAttribute('title')).toBe('TASK_NOT_ACTIVE')
    await click(page, 'steer')
    await expect.poll(() => told.textContent(), patience).toContain('steer was refused: TASK_NOT_ACTIVE')
    expect(await told.textContent()).toContain('nothing was changed.')
    expect(await state(page).textContent()).toBe('pending.queued')
    await click(page, 'task.started')
    await click(page, 'model.requested (the turn)')
    await click(page, 'cancel')
    await expect.poll(() => told.textContent(), patience).toContain('cancel was applied.')
    const drafted = ['task.cancelling', 'model.abandoned', 'task.quiescing', 'task.cancelled']
    expect(await page.locator('.drafted li').allTextContents()).toEqual(drafted)
    expect(await state(page).textContent()).toBe('terminal.cancelled')
    expect(await page.locator('.asked').textContent()).toContain('abortRequest')
    expect(await page.locator('.history button').last().textContent()).toBe('cancelterminal.cancelled')

    await page.getByText('Another command').click()
    await page.getByLabel('Example').selectOption('reduceGrant')
    const words = page.getByLabel('The command as JSON')
    expect(JSON.parse(await words.inputValue())).toMatchObject({ name: 'reduceGrant', id: 'tool:shop.order' })
    await words.fill('[]')
    await click(page, 'Send the command')
    expect(await page.locator('form [role=alert]').first().textContent()).toBe(
      'A command is a JSON object with a name.',
    )
    expect(problems).toEqual([])
    await words.fill('{ "name": "fly" }')
    await click(page, 'Send the command')
    await expect.poll(() => page.locator('.problem').textContent(), patience).toContain('INVALID_INPUT')
  })

  it('goes back to where it was, and on from there', async () => {
    const { page } = await open('call')
    for (const name of ['call.started', 'call.interrupted', 'call.started']) {
      const played = await page.locator('.history li').count()
      await click(page, name)
      await expect.poll(() => page.locator('.history li').count(), patience).toBe(played + 1)
    }
    expect(await page.locator('.asked').textContent()).toContain('"attempt":2')
    await page.locator('.history button').nth(1).click()
    await expect.poll(() => page.locator('.history li').count(), patience).toBe(2)
    expect(await state(page).textContent()).toBe('started')
    await click(page, 'call.finished (succeeded)')
    await expect.poll(() => page.locator('.over').textContent(), patience).toBe('The chart has ended (done).')
  })

  it('plays an event whose name is clicked in the drawing', async () => {
    const { page } = await open('call')
    await page.locator('.label .event', { hasText: 'call.held' }).first().click()
    await expect.poll(() => state(page).textContent(), patience).toBe('held')
  })

  it('is used with the keyboard alone', async () => {
    const { page } = await open('call')
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
    const tabTo = async (text: string) => {
      for (let presses = 0; presses < 40 && (await focused()) !== text; presses += 1) await page.keyboard.press('Tab')
      expect(await focused()).toBe(text)
    }
    await tabTo('call.started')
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)
    expect(outline).toBe('solid')
    await page.keyboard.press('Enter')
    await expect.poll(() => state(page).textContent(), patience).toBe('started')
    // The pressed button is gone; the focus is not lost with it.
    await expect.poll(focused, patience).toMatch(/^call\./)
    await tabTo('call.aborting')
    await page.keyboard.press('Space')
    await expect.poll(() => state(page).textContent(), patience).toBe('aborting')
    await tabTo('acknowledge')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.now .refused').textContent(), patience).toContain('NOT_QUARANTINED')
  })

  it('takes an event and an input as JSON, and says what is wrong with them', async () => {
    const { page } = await open('call')
    await page.getByText('Another event').click()
    await page.getByLabel('As JSON', { exact: true }).first().fill('{"kind": 1}')
    await click(page, 'Send')
    await expect.poll(() => page.getByText('An event is a JSON object with a type.').count(), patience).toBe(1)
    await page
      .getByLabel('As JSON', { exact: true })
      .first()
      .fill('{"type": "call.refused", "seq": 2, "data": {"code": "X"}}')
    await click(page, 'Send')
    await expect.poll(() => state(page).textContent(), patience).toBe('refused')
    await page.getByText('Begin with another input').click()
    await page.getByLabel('As JSON', { exact: true }).last().fill('{"nothing": true}')
    await click(page, 'Begin')
    await expect.poll(() => page.locator('.problem').textContent(), patience).toContain('INVALID_INPUT')
  })

  it('follows the colours of the system, and the reader who wants others', async () => {
    const { page } = await open('call')
    await expect.poll(() => colour(page, 'body'), patience).toBe('rgb(255, 255, 255)')
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(() => colour(page, 'body'), patience).toBe('rgb(18, 22, 28)')
    await expect.poll(() => colour(page, '.landfall-chart'), patience).toBe('rgb(18, 22, 28)')
    await page.getByLabel('light').check()
    await expect.poll(() => colour(page, 'body'), patience).toBe('rgb(255, 255, 255)')
    await expect.poll(() => colour(page, '.landfall-chart'), patience).toBe('rgb(255, 255, 255)')
  })

  it('has a name for everything that can be used, and a drawing that says what it shows', async () => {
    const { page } = await open()
    const nameless = await page.locator('button, input, textarea, select, summary').evaluateAll(
      (all) =>
        all.filter((each) => {
          if (each.matches('button, summary')) return (each.textContent ?? '').trim() === ''
          return ((each as HTMLInputElement).labels?.length ?? 0) === 0
        }).length,
    )
    expect(nameless).toBe(0)
    expect(await page.locator('svg[role=img] > title').first().textContent()).toBe('The session chart')
    expect(await page.locator('[aria-live=polite]').count()).toBe(1)
  })

  it('plays the chart of a file of the reader: what its guard refuses, what it asks for, its timers', async () => {
    writeFileSync(join(folder, 'lamp.machine.mjs'), lamp)
    const { page, problems } = await newPage(browser, await served(['./lamp.machine.mjs']))
    const send = async (lux: number) => {
      await page
        .locator('textarea')
        .first()
        .fill(JSON.stringify({ type: 'PRESS', lux }))
      await click(page, 'Send')
    }
    await page.getByText('Another event').click()
    await send(50)
    await expect.poll(() => page.locator('.guards').textContent(), patience).toContain('isDark said no in lamp.off')
    expect(await active(page)).toEqual(['lamp', 'lamp.off'])
    await send(5)
    await expect.poll(() => state(page).textContent(), patience).toBe('on')
    expect(await page.locator('.asked').textContent()).toContain('ring')
    await page.locator('.events button').first().click()
    await expect.poll(() => state(page).textContent(), patience).toBe('off')
    expect(problems).toEqual([])
  })

  it('says at once why a chart cannot begin and why it is not drawn, and begins with an input that helps', async () => {
    writeFileSync(join(folder, 'unbegun.mjs'), unbegun)
    const { page, problems } = await newPage(browser, await served(['./unbegun.mjs']))
    const now = page.locator('.now')
    await click(page, 'circles')
    await expect.poll(() => now.textContent(), patience).toMatch(/The chart cannot begin: Infinite loop/)
    await click(page, 'asks')
    await expect
      .poll(() => now.textContent(), patience)
      .toMatch(/cannot begin: .*name.*If it needs an input, give it one below/)
    await page.getByText('Begin with another input').click()
    await page.locator('textarea').last().fill('{"name": "Ada"}')
    await click(page, 'Begin')
    await expect.poll(() => state(page).textContent(), patience).toBe('here')
    expect(await page.locator('.context').textContent()).toContain('Ada, 10n')
    await click(page, 'large')
    await expect.poll(() => page.locator('.undrawn').textContent(), patience).toMatch(/too large to be drawn.*Mermaid/)
    await click(page, 'NEXT')
    await expect.poll(() => state(page).textContent(), patience).toBe('s1')
    expect(problems).toEqual([])
  })

  it('fits a telephone and a desk, and its texts can be read in light and dark', async () => {
    const { page } = await open('task')
    for (const width of [360, 1_400]) {
      await page.setViewportSize({ width, height: 740 })
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await misplaced(page), `${width} ${colorScheme}`).toEqual([])
        expect(await faintTexts(page), `${width} ${colorScheme}`).toEqual([])
      }
    }
  })
})
