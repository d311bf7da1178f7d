import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { OutcomeUnknownError } from '../../src/facts/errors.ts'
import { hasChromium, sayWithoutChromium } from './chromium.ts'
import { activeIn, consoleScene, HeldCalls, notice, patience, press, say, tab } from './console-kit.ts'

sayWithoutChromium()

const held = new HeldCalls()
const post = { calls: Array.from({ length: 3 }, () => ({ name: 'shop.post', arguments: {} })) }
const look = { calls: [{ name: 'shop.look', arguments: {} }] }
const spawn = (input: string) => ({ name: 'task_spawn', arguments: { input } })
const scripts = {
  cancel: { turns: [[{ calls: [{ name: 'shop.order', arguments: {} }] }]] },
  post: {
    turns: [
      [post, { text: 'Who knows.' }],
      [post, { text: 'Again.' }],
    ],
  },
  first: {
    turns: [[look, { error: { code: 'BROKEN', retryable: false } }]],
    everyTurn: [{ text: 'You said {{input}}' }],
  },
  family: { turns: [[{ calls: [spawn('outer one'), spawn('outer two')] }, look, { text: 'Spawned.' }]] },
  outer: { background: [{ calls: [spawn('inner')] }, { hang: true as const }] },
  inner: { background: [{ hang: true as const }] },
  spend: { everyTurn: [{ text: 'Spent.', usage: { input: 1_200, output: 34 } }] },
}

const items = (page: Page) => page.locator('.queue > li')

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('work in the console', () => {
  const scene = consoleScene(() => ({
    catalog: [
      held.tool('shop.look', 'read'),
      held.tool('shop.order', 'mutate'),
      held.tool('shop.post', 'mutate', () => {
        throw new OutcomeUnknownError('The line went dead.')
      }),
    ],
    // Long enough that nothing is given up before the test has looked at it.
    limits: { graceMs: 120_000 },
    budget: { tokens: 50_000 },
    scripts,
  }))

  it('cancels: cancelling, quiescing with the calls that are waited for by name, terminal', async () => {
    const { page, problems } = await scene.open('cancelled')
    await say(page, 'cancel')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    await press(page, 'Cancel turn')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.quiescing')
    expect(await activeIn(page, 'call')).toContain('call.aborting')
    await tab(page, 'Work')
    expect(await page.locator('.ending').textContent()).toMatch(/quiescing.*Waits for 1 call:.*shop\.order aborting/)
    // Both are of one step, so the moment between them is one of the past.
    await tab(page, 'Facts')
    await page.getByRole('option', { name: 'task.cancelling' }).click()
    await expect.poll(() => page.locator('[data-turn]').textContent(), patience).toBe('turn: cancelling')
    await press(page, 'Live')
    await held.finish('cancelled')
    await tab(page, 'Charts')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.cancelled')
    expect(problems).toEqual([])
  })

  it('is quarantined until what is unknown is acknowledged: one call after the other, or all at once', async () => {
    const { page, problems, session } = await scene.open('posted')
    const banner = page.getByRole('alert', { name: 'Quarantine' })
    const unknown = async () => {
      await expect.poll(async () => (await session.calls()).filter(({ state }) => state === 'started').length).toBe(3)
      await held.finish('posted', 3)
      await expect.poll(() => banner.getByRole('listitem').count(), patience).toBe(3)
      await expect.poll(() => activeIn(page, 'session'), patience).toContain('session.mutations.quarantined')
    }
    await say(page, 'post')
    await unknown()
    expect(await banner.textContent()).toMatch(/what 3 calls did is unknown.*shop\.post/)
    await expect
      .poll(() => page.locator('.sessions [aria-current] .mark-bad').textContent(), patience)
      .toBe('quarantined')
    for (const left of [2, 1]) {
      await banner
        .getByRole('button', { name: /^Acknowledge …/ })
        .first()
        .click()
      await expect.poll(() => banner.getByRole('listitem').count(), patience).toBe(left)
      expect((await session.state()).quarantined).toHaveLength(left)
      expect(await activeIn(page, 'session')).toContain('session.mutations.quarantined')
    }
    await banner.getByRole('button', { name: /^Acknowledge …/ }).click()
    await expect.poll(() => banner.count(), patience).toBe(0)
    await expect.poll(() => activeIn(page, 'session'), patience).toContain('session.mutations.free')
    await say(page, 'again')
    await unknown()
    await banner.getByRole('button', { name: 'Acknowledge all' }).click()
    await expect.poll(() => banner.count(), patience).toBe(0)
    expect((await session.state()).quarantined).toEqual([])
    await expect.poll(() => page.locator('.sessions [aria-current] .mark-bad').count(), patience).toBe(0)
    expect(problems).toEqual([])
  })

  it('works on the queue: replaces, cancels, unblocks', async () => {
    const { page, problems } = await scene.open('queued')
    await say(page, 'first')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    await tab(page, 'Work')
    await say(page, 'second', 'Follow up if it completes')
    await expect.poll(() => items(page).count(), patience).toBe(1)
    await say(page, 'third', 'Follow up')
    await expect.poll(() => items(page).count(), patience).toBe(2)
    await say(page, 'fourth', 'Follow up')
    await expect.poll(() => items(page).count(), patience).toBe(3)
    const on = (at: number, name: RegExp) => items(page).nth(at).getByRole('button', { name }).click()
    await on(2, /^Cancel/)
    await expect.poll(() => items(page).count(), patience).toBe(2)
    await on(1, /^Replace/)
    await items(page).getByLabel('New input').fill('instead')
    await items(page).getByRole('button', { name: 'Use this input' }).click()
    await expect.poll(() => notice(page), patience).toContain('Replace: done')
    await held.finish('queued')
    await expect.poll(() => items(page).first().textContent(), patience).toContain('blocked')
    await on(0, /^Unblock/)
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('said instead')
    const said = page.locator('.message-user .text')
    await expect.poll(() => said.allTextContents(), patience).toEqual(['first', 'second', 'instead'])
    await expect.poll(() => items(page).count(), patience).toBe(0)
    expect(problems).toEqual([])
  })

  it('shows background tasks under whoever began them, and cancels one with all that is below it', async () => {
    const { page, problems, session } = await scene.open('family')
    await say(page, 'family')
    await expect.poll(async () => (await session.tasks()).length, patience).toBe(5)
    await tab(page, 'Work')
    const tops = page.locator('.tree:not(.tree .tree) > li')
    await expect.poll(() => page.locator('.tree .tree > li').count(), patience).toBe(2)
    const tasks = await session.tasks()
    const [turn, one, two] = tasks
    expect([one?.parent, two?.parent]).toEqual([turn?.id, turn?.id])
    for (const [at, parent] of [one, two].entries()) {
      const child = tasks.find((task) => task.parent === parent?.id)
      expect(await tops.nth(at).locator(':scope > code').textContent()).toBe(`…${parent?.id.slice(-6)}`)
      expect(await tops.nth(at).locator('.tree > li > code').textContent()).toBe(`…${child?.id.slice(-6)}`)
    }
    await tops
      .nth(0)
      .getByRole('button', { name: /^Cancel/ })
      .first()
      .click()
    await expect
      .poll(() => tops.nth(0).locator('.mark').allTextContents(), patience)
      .toEqual(['cancelled', 'cancelled'])
    expect(await tops.nth(1).locator('.mark').allTextContents()).toEqual(['running', 'running'])
    await held.finish('family')
    await session.cancel({ task: two?.id ?? '' })
    await expect
      .poll(() => tops.nth(1).locator('.mark').allTextContents(), patience)
      .toEqual(['cancelled', 'cancelled'])
    expect(problems).toEqual([])
  })

  it('closes a session and opens it again', async () => {
    const { page, problems, session } = await scene.open('closing')
    await say(page, 'hello')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    await press(page, 'Close session')
    await expect.poll(() => activeIn(page, 'session'), patience).toContain('session.lifecycle.closed')
    await expect.poll(() => page.locator('.sessions [aria-current]').textContent(), patience).toContain('closed')
    await say(page, 'still there?')
    await expect.poll(() => notice(page), patience).toContain('SESSION_CLOSED')
    await press(page, 'Reopen session')
    await expect.poll(() => activeIn(page, 'session'), patience).toContain('session.lifecycle.open')
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('still there?')
    await press(page, 'Start')
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('still there?')
    expect((await session.tasks()).map(({ status }) => status)).toEqual(['completed', 'completed'])
    expect(problems).toEqual([expect.stringContaining('422')])
  })

  it('shows the budget that the state has, and the occupancy of the newest request', async () => {
    const { page, problems, session } = await scene.open('spent')
    const numbers = async () => (await page.locator('.meters').textContent())?.replaceAll(',', '')
    for (const text of ['spend', 'more']) {
      await say(page, text)
      await expect.poll(() => page.locator('.message-assistant').count(), patience).toBe(text === 'spend' ? 1 : 2)
      await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
      const { budget } = await session.state()
      expect(budget.used).toBeGreaterThan(1_000)
      await expect.poll(numbers, patience).toContain(`Budget${budget.used + budget.reserved} of ${budget.limit} tokens`)
      const accounted = (await session.log()).findLast(({ type }) => type === 'context.accounted')?.data
      const { occupancy, window } = accounted as { occupancy: number; window: number }
      expect(await numbers()).toContain(`Context${occupancy} of ${window} tokens`)
      const meter = page.getByRole('meter', { name: 'Budget' })
      expect(await meter.getAttribute('value')).toBe(String(budget.used + budget.reserved))
    }
    expect(problems).toEqual([])
  })
})
