import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasChromium, launch, sayWithoutChromium } from './chromium.ts'
import { activeIn, openConsole, patience, tab } from './console-kit.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })
sayWithoutChromium()

const scope = { tenant: 'local', user: 'local', session: 'one' }
const script = { name: 'echo', everyTurn: [{ text: 'You said {{input}}' }] }
const moment = (page: Page) => page.locator('.moment').textContent()

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('time in the console', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser.close())

  it('goes back through a thousand facts without asking for each moment or drawing each fact', async () => {
    const { on, page, problems } = await openConsole(browser, { script })
    const session = on.runtime.session(scope)
    for (let count = 0; count < 1_000; count = (await session.state()).seq)
      await (await session.start(`turn at ${count}`)).outcome()
    const last = (await session.state()).seq
    await expect.poll(() => moment(page), patience).toContain(`${last} facts`)
    await tab(page, 'Facts')
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/state?at=')) asked.push(request.url())
    })
    const most = await page.getByRole('slider', { name: 'Fact' }).evaluate(async (slider: HTMLInputElement) => {
      let rows = 0
      for (let seq = Number(slider.max); seq >= 1; seq -= 1) {
        slider.value = String(seq)
        slider.dispatchEvent(new Event('input', { bubbles: true }))
        await new Promise(requestAnimationFrame)
        rows = Math.max(rows, document.querySelectorAll('.fact').length)
      }
      return rows
    })
    expect(most).toBeLessThan(80)
    await expect.poll(() => moment(page), patience).toContain(`Fact 1 of ${last}`)
    await expect.poll(() => page.locator('.moment[data-ready=true]').count(), patience).toBe(1)
    expect(asked.length).toBeLessThan(last / 10)
    expect(asked.at(-1)).toMatch(/at=1$/)
    expect(await page.locator('.message').count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('shows state, charts, conversation and request of a moment as they were, and nothing to decide there', async () => {
    const { on, page, problems } = await openConsole(browser, { script })
    const session = on.runtime.session(scope)
    for (const input of ['first', 'second']) await (await session.start(input)).outcome()
    const facts = await session.log()
    const requests = facts.filter(({ type }) => type === 'model.requested')
    const [first = facts[0], second = facts[0]] = requests
    await expect.poll(() => moment(page), patience).toContain(`${facts.length} facts`)
    await tab(page, 'State')
    await expect.poll(() => page.locator('.request').textContent(), patience).toContain('second')
    await page.getByRole('slider', { name: 'Fact' }).fill(String(first?.seq))
    await expect
      .poll(() => page.locator('[data-request]').getAttribute('data-request'), patience)
      .toBe(String(first?.seq))
    expect(await page.locator('.request').textContent()).not.toContain('second')
    expect(await page.locator('.message .text').allTextContents()).toEqual(['first'])
    await tab(page, 'Charts')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.running.requesting')
    expect(await page.getByLabel('Message', { exact: true }).count()).toBe(0)
    // Somebody who has been here before sees it again without a question.
    let questions = 0
    page.on('request', (request) => {
      if (request.url().includes('/state?at=')) questions += 1
    })
    await page.getByRole('slider', { name: 'Fact' }).fill(String(second?.seq))
    await expect.poll(() => page.locator('.moment[data-ready=true]').count(), patience).toBe(1)
    await page.getByRole('slider', { name: 'Fact' }).fill(String(first?.seq))
    await expect.poll(() => page.locator('.moment[data-ready=true]').count(), patience).toBe(1)
    expect(questions).toBe(1)
    await page.getByRole('button', { name: 'Back to live' }).click()
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    expect(problems).toEqual([])
  })

  it.each([
    ['is cut', ''],
    ['dropped facts', 'id: ignored\nevent: bus.dropped\ndata: {"type":"bus.dropped","from":4,"to":6,"count":3}\n\n'],
    ['has a hole', 'event: task.started\ndata: {"type":"task.started","seq":9,"resume":"x"}\n\n'],
  ])('gets every fact once when its stream %s: it goes on behind the last one', async (_, rest) => {
    const { on, page, problems } = await openConsole(browser, { script, session: 'other' })
    const session = on.runtime.session(scope)
    await (await session.start('hello')).outcome()
    const facts = await session.log()
    const positions: (string | undefined)[] = []
    await page.route('**/sessions/one/events', async (route) => {
      positions.push(route.request().headers()['last-event-id'])
      if (positions.length > 1) return route.continue()
      const begun = facts.slice(0, 3).map((fact) => {
        const resume = `position-${fact.seq}`
        return `id: ${resume}\nevent: ${fact.type}\ndata: ${JSON.stringify({ ...fact, resume })}\n\n`
      })
      return route.fulfill({ contentType: 'text/event-stream', body: begun.join('') + rest })
    })
    await page.route('**/sessions/one/events', async (route) => {
      // A position that only this test knows is told as the real one.
      const position = route.request().headers()['last-event-id']
      if (position !== 'position-3') return route.fallback()
      positions.push(position)
      const real = await fetch(`${on.url}/v1/sessions/one/events?ephemeral=false`, {
        signal: AbortSignal.timeout(2_000),
      })
      const reader = real.body?.getReader()
      let text = ''
      while (!text.includes(`"seq":${facts.length},`)) text += new TextDecoder().decode((await reader?.read())?.value)
      await reader?.cancel()
      return route.fulfill({ contentType: 'text/event-stream', body: text })
    })
    await page.goto(`${on.url}/#/one`)
    await expect.poll(() => moment(page), patience).toContain(`${facts.length} facts`)
    expect(positions.slice(0, 2)).toEqual([undefined, 'position-3'])
    await tab(page, 'Facts')
    const shown = await page.locator('.fact-seq').allTextContents()
    expect(shown).toEqual(facts.map(({ seq }) => String(seq)))
    expect(problems).toEqual([])
  })
})
