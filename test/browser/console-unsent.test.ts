import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import type { Session } from '../../src/runtime/session.ts'
import { hasChromium, sayWithoutChromium } from './chromium.ts'
import { activeIn, consoleScene, HeldCalls, notice, patience, press, say, tab } from './console-kit.ts'

sayWithoutChromium()

const held = new HeldCalls()
const ask = { calls: [{ name: 'operator_ask', arguments: { question: 'Which?' } }] }
const buy = { calls: [{ name: 'shop.order', arguments: {} }] }
const order = defineTool({
  name: 'shop.order',
  description: 'Orders.',
  input: z.object({}),
  confirm: 'each',
  run: async () => 'ordered',
})
const scripts = {
  hold: { turns: [[{ calls: [{ name: 'shop.look', arguments: {} }] }, { text: 'Looked.' }]] },
  hang: { everyTurn: [{ hang: true as const }] },
  ask: {
    turns: [
      [ask, { text: 'So {{last}}' }],
      [buy, { text: 'Bought.' }],
    ],
  },
}
const box = (page: Page) => page.getByLabel('Message', { exact: true })
const typedIn = (page: Page) => box(page).inputValue()
const doubt = (page: Page) => page.locator('.composer .unclear').textContent()

/** Requests to a path wait until the test lets them go. */
async function slow(page: Page, path: string): Promise<{ readonly asked: () => number; readonly go: () => void }> {
  let go = () => {}
  let asked = 0
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  await page.route(path, async (route) => {
    asked += 1
    await gate
    await route.continue()
  })
  return { asked: () => asked, go: () => go() }
}

const steered = async (session: Session) =>
  (await session.log()).filter(({ type }) => type === 'steering.queued').length

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('what is typed in the console', () => {
  const scene = consoleScene(() => ({ catalog: [held.tool('shop.look', 'read'), order], scripts }))

  it('is sent once, however often one presses Enter or Send, and what is typed meanwhile stays', async () => {
    const { page, problems, session } = await scene.open('once')
    await say(page, 'hold')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    const steer = await slow(page, '**/steer')
    await box(page).fill('steer once')
    await box(page).press('Enter')
    await box(page).press('Enter')
    await page.getByRole('button', { name: 'Send' }).dblclick()
    await box(page).pressSequentially(' next text')
    // It waits for the first one, and is not lost.
    await box(page).press('Enter')
    await expect.poll(steer.asked, patience).toBe(1)
    steer.go()
    await expect.poll(() => notice(page), patience).toContain('Steer: queued')
    expect(await typedIn(page)).toBe(' next text')
    expect(await steered(session)).toBe(1)
    await box(page).press('Enter')
    await expect.poll(() => steered(session), patience).toBe(2)
    expect(await typedIn(page)).toBe('')
    held.finish('once')
    expect(problems).toEqual([])
  })

  it('comes back into the box when it is refused, before what was typed meanwhile', async () => {
    const { page } = await scene.open('refused')
    let refuse = () => {}
    const refusal = new Promise<void>((resolve) => {
      refuse = resolve
    })
    await page.route('**/tasks', async (route) => {
      await refusal
      await route.fulfill({ status: 429, json: { code: 'QUEUE_FULL', detail: 'Too many wait.' } })
    })
    await say(page, 'the first')
    await box(page).pressSequentially('the second')
    refuse()
    await expect.poll(() => notice(page), patience).toContain('QUEUE_FULL: Too many wait.')
    expect(await typedIn(page)).toBe('the first\nthe second')
  })

  it('stays with its session, over a look at another one, the past, and a reload', async () => {
    const { page, problems } = await scene.open('draft-one')
    await say(page, 'ask')
    const answer = page.getByLabel('Your answer')
    await answer.fill('half an ans')
    await box(page).fill('half a sent')
    await tab(page, 'Records')
    await page.getByLabel('Key', { exact: true }).fill('half a key')
    const go = (name: string) =>
      page.evaluate((to) => {
        location.hash = `#/${to}`
      }, name)
    await go('draft-two')
    await expect.poll(() => page.locator('h2', { hasText: 'draft-two' }).count(), patience).toBe(1)
    expect(await typedIn(page)).toBe('')
    await box(page).fill('of two')
    await go('draft-one')
    const isThere = async () => {
      await expect.poll(() => answer.inputValue(), patience).toBe('half an ans')
      expect(await typedIn(page)).toBe('half a sent')
      await expect.poll(() => page.getByLabel('Key', { exact: true }).inputValue(), patience).toBe('half a key')
    }
    await isThere()
    await page.getByRole('slider', { name: 'Fact' }).fill('2')
    await expect.poll(() => box(page).count(), patience).toBe(0)
    await press(page, 'Back to live')
    await isThere()
    // The address follows a little later than what is shown.
    await expect.poll(() => page.url(), patience).toMatch(/draft-one\?view=records$/)
    await page.reload()
    await isThere()
    await go('draft-two')
    await expect.poll(() => typedIn(page), patience).toBe('of two')
    expect(problems).toEqual([])
  })

  it('is not known to have arrived when the page is left, so it is neither lost nor sent by itself', async () => {
    const { page, session } = await scene.open('left')
    const start = await slow(page, '**/tasks')
    await say(page, 'was it sent?')
    await expect.poll(start.asked, patience).toBe(1)
    await page.reload()
    await expect.poll(() => typedIn(page), patience).toBe('was it sent?')
    expect(await doubt(page)).toContain('The page was left')
    await box(page).press('Enter')
    expect(await session.tasks()).toEqual([])
    start.go()
  })

  it('becomes nothing else by itself when its turn ends or another begins: the reader says what it is for', async () => {
    const { page, problems, session } = await scene.open('meant')
    await say(page, 'hang')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.running.requesting')
    await page.getByLabel('Steer', { exact: true }).check()
    await box(page).fill('meant for this turn')
    await session.cancel()
    await expect.poll(() => doubt(page), patience).toContain('has ended. Choose what it is for.')
    await box(page).press('Enter')
    await press(page, 'Send')
    expect(await typedIn(page)).toBe('meant for this turn')
    expect(await session.tasks()).toHaveLength(1)
    // By the keyboard alone: the choice has the focus.
    await page.keyboard.press('Space')
    await expect.poll(() => doubt(page), patience).toBe('')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await session.tasks()).length, patience).toBe(2)
    await expect.poll(() => page.locator('[data-turn]').textContent(), patience).toBe('turn: running')
    await session.cancel()
    await expect.poll(() => page.locator('[data-turn=none]').count(), patience).toBe(1)
    await box(page).fill('meant as a beginning')
    await session.start('hang')
    await expect.poll(() => doubt(page), patience).toContain('A turn has begun')
    await box(page).press('Enter')
    expect(await steered(session)).toBe(0)
    await page.getByLabel('Interrupt', { exact: true }).check()
    await box(page).press('Enter')
    await expect.poll(() => steered(session), patience).toBe(1)
    await session.cancel()
    expect(problems).toEqual([])
  })

  it('is decided once by a double click', async () => {
    const { page, problems } = await scene.open('twice')
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(new URL(request.url()).pathname.split('/').at(-1) ?? '')
    })
    await say(page, 'ask')
    await page.getByLabel('Your answer').fill('this one')
    const resume = await slow(page, '**/resume')
    await page.getByRole('button', { name: 'Answer' }).dblclick()
    await expect.poll(resume.asked, patience).toBe(1)
    resume.go()
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('So this one')
    expect(sent).toEqual(['tasks', 'resume'])
    // Also where the first click was answered, and what is open was not read again yet.
    await expect.poll(() => page.locator('[data-turn=none]').count(), patience).toBe(1)
    await say(page, 'buy')
    const allow = page.getByRole('button', { name: 'Allow' })
    await allow.waitFor()
    const pauses = await slow(page, '**/pauses*')
    await allow.click()
    await expect.poll(() => notice(page), patience).toContain('Decision (allow): done')
    await allow.click()
    await allow.click()
    pauses.go()
    await expect.poll(() => allow.count(), patience).toBe(0)
    expect(sent).toEqual(['tasks', 'resume', 'tasks', 'confirm'])
    expect(problems).toEqual([])
  })
})
