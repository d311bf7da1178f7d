import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { start } from '../cli/cli-process.ts'
import { tempFolder } from '../log/temp-store.ts'
import { hasChromium, launch, newPage, sayWithoutChromium } from './chromium.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })
const patience = { timeout: 10_000 }
sayWithoutChromium()

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('the chart page', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser.close())

  async function open(words: readonly string[] = []): Promise<{ page: Page; problems: string[] }> {
    const started = start(['machines', ...words, '--open', '--json'], { cwd: tempFolder(), env: { BROWSER: 'none' } })
    let out = ''
    started.process.stdout?.on('data', (part: string) => {
      out += part
    })
    await started.shows('\n')
    return newPage(browser, (JSON.parse(out) as { address: string }).address)
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
    expect(await active(page)).toContain('task.running.requesting')
    const taken = page.locator('.arrow.taken')
    expect(await taken.getAttribute('data-target')).toBe('task.running.requesting')

    await click(page, 'task.completed')
    await expect.poll(() => page.locator('p.refused').textContent(), patience).toBe('task.completed was refused.')
    expect(await page.locator('.guards').textContent()).toContain('isDescendants said no in task.running')
    expect(await state(page).textContent()).toBe('running.requesting')
    expect(problems).toEqual([])
  })

  it('goes back to where it was, and on from there', async () => {
    const { page } = await open(['call'])
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
    const { page } = await open(['call'])
    await page.locator('.label .event', { hasText: 'call.held' }).first().click()
    await expect.poll(() => state(page).textContent(), patience).toBe('held')
  })

  it('is used with the keyboard alone', async () => {
    const { page } = await open(['call'])
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
  })

  it('takes an event and an input as JSON, and says what is wrong with them', async () => {
    const { page } = await open(['call'])
    await page.getByText('Another event').click()
    await page.locator('textarea').first().fill('{"kind": 1}')
    await click(page, 'Send')
    await expect.poll(() => page.getByText('An event is a JSON object with a type.').count(), patience).toBe(1)
    await page.locator('textarea').first().fill('{"type": "call.refused", "seq": 2, "data": {"code": "X"}}')
    await click(page, 'Send')
    await expect.poll(() => state(page).textContent(), patience).toBe('refused')
    await page.getByText('Begin with another input').click()
    await page.locator('textarea').last().fill('{"nothing": true}')
    await click(page, 'Begin')
    await expect.poll(() => page.locator('.problem').textContent(), patience).toContain('INVALID_INPUT')
  })

  it('follows the colours of the system, and the reader who wants others', async () => {
    const { page } = await open(['call'])
    expect(await colour(page, 'body')).toBe('rgb(255, 255, 255)')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await colour(page, 'body')).toBe('rgb(18, 22, 28)')
    expect(await colour(page, '.landfall-chart')).toBe('rgb(18, 22, 28)')
    await page.getByLabel('light').check()
    expect(await colour(page, 'body')).toBe('rgb(255, 255, 255)')
    expect(await colour(page, '.landfall-chart')).toBe('rgb(255, 255, 255)')
  })

  it('has a name for everything that can be used, and a drawing that says what it shows', async () => {
    const { page } = await open()
    const nameless = await page.locator('button, input, textarea, summary').evaluateAll(
      (all) =>
        all.filter((each) => {
          const labels = each instanceof HTMLInputElement || each instanceof HTMLTextAreaElement ? each.labels : null
          return (each.textContent ?? '').trim() === '' && (labels?.length ?? 0) === 0
        }).length,
    )
    expect(nameless).toBe(0)
    expect(await page.locator('svg[role=img] > title').first().textContent()).toBe('The session chart')
    expect(await page.locator('[aria-live=polite]').count()).toBe(1)
  })
})
