import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { hasChromium, launch, sayWithoutChromium } from './chromium.ts'
import { activeIn, openConsole, patience, say, slowTool, tab } from './console-kit.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })
sayWithoutChromium()

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('the console', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser.close())

  it('shows a turn that streams, and the active states of its task as they move', async () => {
    const slow = slowTool('shop.look', 'read')
    const { page, problems } = await openConsole(browser, {
      catalog: [slow.tool],
      script: {
        name: 'streams',
        turns: [
          [
            { text: 'Looking.', calls: [{ name: 'shop.look', arguments: {} }] },
            { delayMs: 1_500, chunks: ['It has ', 'three ', 'files.'] },
          ],
        ],
      },
    })
    await say(page, 'hello')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.running.acting')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    expect(await activeIn(page, 'session')).toContain('session.foreground.active')
    slow.finish()
    // Deltas are shown before the message is there.
    await expect.poll(() => page.locator('.draft .text').allTextContents(), patience).toEqual(['It has '])
    expect(await activeIn(page, 'task')).toContain('task.running.requesting')
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('three files.')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    await expect.poll(() => page.locator('.draft').count(), patience).toBe(0)
    expect(problems).toEqual([])
  })

  it('shows what a model says as text, whatever it looks like', async () => {
    const nasty = '<img src=x onerror="document.title=1"><script>document.title=2</script><b>bold</b>'
    const { page, problems } = await openConsole(browser, {
      script: { name: 'nasty', everyTurn: [{ text: nasty }] },
      session: '<b>nasty',
    })
    await say(page, nasty)
    await expect.poll(() => page.locator('.message-assistant .text').textContent(), patience).toBe(nasty)
    await expect.poll(() => page.locator('.message-user .text').textContent(), patience).toBe(nasty)
    expect(await page.locator('.conversation').locator('img, script, b').count()).toBe(0)
    expect(await page.title()).toBe('<b>nasty – Landfall')
    expect(problems).toEqual([])
  })

  it('steers from the page, and the words are in the next request', async () => {
    const slow = slowTool('shop.look', 'read')
    const { page, problems } = await openConsole(browser, {
      catalog: [slow.tool],
      script: {
        name: 'steered',
        turns: [[{ calls: [{ name: 'shop.look', arguments: {} }] }, { text: 'Heard: {{steering}}' }]],
      },
    })
    await say(page, 'hello')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    await say(page, 'the blue one', 'Steer')
    await expect.poll(() => page.locator('.notice').textContent(), patience).toContain('Steer: queued')
    slow.finish()
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('the blue one')
    await tab(page, 'State')
    await expect.poll(() => page.locator('.request').textContent(), patience).toContain('the blue one')
    expect(problems).toEqual([])
  })

  it('cancels from the page: cancelling, quiescing with the calls that are waited for, terminal', async () => {
    const slow = slowTool()
    const { page, problems } = await openConsole(browser, {
      catalog: [slow.tool],
      limits: { graceMs: 600_000 },
      script: { name: 'cancelled', turns: [[{ calls: [{ name: 'shop.order', arguments: {} }] }]] },
    })
    await say(page, 'hello')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    await page.getByRole('button', { name: 'Cancel turn' }).click()
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.quiescing')
    expect(await activeIn(page, 'call')).toContain('call.aborting')
    await tab(page, 'Work')
    expect(await page.locator('.ending').textContent()).toMatch(/quiescing.*Waits for 1 call:.*shop\.order aborting/)
    // Both are of one step, so the moment between them is one of the past.
    await tab(page, 'Facts')
    await page.getByRole('option', { name: 'task.cancelling' }).click()
    await expect.poll(() => page.locator('[data-turn]').textContent(), patience).toBe('turn: cancelling')
    await page.getByRole('button', { name: 'Live', exact: true }).click()
    slow.finish()
    await tab(page, 'Charts')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.cancelled')
    expect(problems).toEqual([])
  })

  it('turns to quarantined when an outcome is unknown, until that is acknowledged there', async () => {
    const deaf = slowTool()
    const { on, page, problems } = await openConsole(browser, {
      catalog: [deaf.tool],
      script: { name: 'unknown', turns: [[{ calls: [{ name: 'shop.order', arguments: {} }] }]] },
    })
    await say(page, 'hello')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    await page.getByRole('button', { name: 'Cancel turn' }).click()
    const banner = page.getByRole('alert', { name: 'Quarantine' })
    await expect.poll(() => banner.textContent(), patience).toContain('shop.order')
    await expect.poll(() => activeIn(page, 'session'), patience).toContain('session.mutations.quarantined')
    await expect.poll(() => page.locator('.sessions .mark-bad').count(), patience).toBe(1)
    await banner.getByRole('button', { name: 'Acknowledge', exact: true }).click()
    await expect.poll(() => banner.count(), patience).toBe(0)
    await expect.poll(() => activeIn(page, 'session'), patience).toContain('session.mutations.free')
    const state = await on.runtime.session({ tenant: 'local', user: 'local', session: 'one' }).state()
    expect(state.quarantined).toEqual([])
    deaf.finish()
    expect(problems).toEqual([])
  })

  it('takes an approval by a click', async () => {
    const bought: unknown[] = []
    const order = defineTool({
      name: 'shop.order',
      description: 'Orders something.',
      input: z.object({ sku: z.string() }),
      effect: 'mutate',
      confirm: 'each',
      run: async (given) => {
        bought.push(given)
        return 'ordered'
      },
    })
    const call = (sku: string) => ({ calls: [{ name: 'shop.order', arguments: { sku } }] })
    const { page, problems } = await openConsole(browser, {
      catalog: [order],
      script: { name: 'asks', turns: [[call('tea'), call('gin'), { text: 'Done: {{last}}' }]] },
    })
    await say(page, 'buy')
    const decision = page.getByRole('article', { name: 'Approval: shop.order' })
    await expect.poll(() => decision.textContent(), patience).toContain('tea')
    expect(bought).toEqual([])
    await decision.getByRole('button', { name: 'Allow' }).click()
    await expect.poll(() => decision.textContent(), patience).toContain('gin')
    await decision.getByRole('button', { name: 'Deny' }).click()
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('Done')
    expect(bought).toEqual([{ sku: 'tea' }])
    await expect.poll(() => decision.count(), patience).toBe(0)
    expect(problems).toEqual([])
  })

  it('works on the queue: replaces, cancels, unblocks', async () => {
    const slow = slowTool('shop.look', 'read')
    const { page, problems } = await openConsole(browser, {
      catalog: [slow.tool],
      script: {
        name: 'queue',
        turns: [[{ calls: [{ name: 'shop.look', arguments: {} }] }, { error: { code: 'BROKEN', retryable: false } }]],
        everyTurn: [{ text: 'You said {{input}}' }],
      },
    })
    await say(page, 'first')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    await tab(page, 'Work')
    const waiting = page.locator('.queue > li')
    await say(page, 'second', 'Follow up if it completes')
    await expect.poll(() => waiting.count(), patience).toBe(1)
    await say(page, 'third', 'Follow up')
    await expect.poll(() => waiting.count(), patience).toBe(2)
    await say(page, 'fourth', 'Follow up')
    await expect.poll(() => waiting.count(), patience).toBe(3)
    const press = (at: number, name: RegExp) => waiting.nth(at).getByRole('button', { name }).click()
    await press(2, /^Cancel/)
    await expect.poll(() => waiting.count(), patience).toBe(2)
    await press(1, /^Replace/)
    await waiting.getByLabel('New input').fill('instead')
    await waiting.getByRole('button', { name: 'Use this input' }).click()
    await expect.poll(() => page.locator('.notice').textContent(), patience).toContain('Replace: done')
    slow.finish()
    await expect.poll(() => waiting.first().textContent(), patience).toContain('blocked')
    await press(0, /^Unblock/)
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('said instead')
    const said = page.locator('.message-user .text')
    await expect.poll(() => said.allTextContents(), patience).toEqual(['first', 'second', 'instead'])
    await expect.poll(() => waiting.count(), patience).toBe(0)
    expect(problems).toEqual([])
  })
})
