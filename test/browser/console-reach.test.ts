import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { start } from '../cli/cli-process.ts'
import { tempFolder } from '../log/temp-store.ts'
import { get, post } from '../protocol/kit/served.ts'
import { issuer } from '../protocol/kit/tokens.ts'
import { hasChromium, launch, newPage, sayWithoutChromium } from './chromium.ts'
import { activeIn, openConsole, patience, say, slowTool, tab } from './console-kit.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })
sayWithoutChromium()

const widest = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
const colour = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor)

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('who reaches the console', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser.close())

  it('fits a telephone: nothing is scrolled sideways, whatever is shown', async () => {
    const deaf = slowTool()
    const { page, problems } = await openConsole(browser, {
      catalog: [deaf.tool],
      script: {
        name: 'wide',
        turns: [[{ text: 'long'.repeat(200), calls: [{ name: 'shop.order', arguments: {} }] }]],
        everyTurn: [{ text: 'Well.' }],
      },
    })
    await page.setViewportSize({ width: 360, height: 740 })
    await say(page, 'word'.repeat(100))
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    for (const name of ['Charts', 'Facts', 'Work', 'State']) {
      await tab(page, name)
      expect(await widest(page), name).toBe(0)
    }
    await page.getByRole('button', { name: 'Cancel turn' }).click()
    await expect.poll(() => page.getByRole('alert', { name: 'Quarantine' }).count(), patience).toBe(1)
    await page.getByText(/^Identity/).click()
    expect(await widest(page)).toBe(0)
    deaf.finish()
    expect(problems).toEqual([])
  })

  it('is used with the keyboard alone: a turn, an approval, a view, the past and back', async () => {
    const order = defineTool({
      name: 'shop.order',
      description: 'Orders.',
      input: z.object({}),
      confirm: 'each',
      run: async () => 'ordered',
    })
    const { page, problems } = await openConsole(browser, {
      catalog: [order],
      script: { name: 'keys', turns: [[{ calls: [{ name: 'shop.order', arguments: {} }] }, { text: 'Done.' }]] },
    })
    const focused = () =>
      page.evaluate(() => {
        const { id = '', textContent, ariaLabel } = document.activeElement ?? {}
        return [id, ariaLabel ?? '', (textContent ?? '').trim().slice(0, 40)]
      })
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 60 && !(await focused()).includes(name); presses += 1)
        await page.keyboard.press('Tab')
      expect(await focused()).toContain(name)
    }
    await tabTo('input')
    await page.keyboard.type('buy')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByRole('button', { name: 'Allow' }).count(), patience).toBe(1)
    await tabTo('Allow')
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)
    expect(outline).toBe('solid')
    await page.keyboard.press('Enter')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    await tabTo('Charts')
    await page.keyboard.press('ArrowRight')
    expect(await focused()).toContain('Facts')
    await tabTo('Facts')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Home')
    await expect.poll(() => page.locator('.moment').textContent(), patience).toContain('Fact 1 of')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => page.locator('.moment').textContent(), patience).toContain('Fact 2 of')
    await tabTo('Live')
    await page.keyboard.press('Space')
    await expect.poll(() => page.locator('.moment').textContent(), patience).not.toContain('of')
    expect(problems).toEqual([])
  })

  it('has a name for everything that can be used', async () => {
    const { page } = await openConsole(browser, { script: { name: 'names', everyTurn: [{ text: 'Yes.' }] } })
    await say(page, 'hello')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    for (const name of ['Charts', 'Facts', 'Work', 'State']) {
      await tab(page, name)
      const nameless = await page
        .locator('button, input, select, textarea, summary, meter, [role=listbox], [role=tab], [tabindex="0"]')
        .evaluateAll((all) =>
          all.flatMap((each) => {
            const labels = 'labels' in each ? (each.labels as NodeList | null) : null
            const isNamed =
              (each.textContent ?? '').trim() !== '' || each.ariaLabel !== null || (labels?.length ?? 0) > 0
            return isNamed ? [] : [each.outerHTML]
          }),
        )
      expect(nameless, name).toEqual([])
    }
    expect(await page.locator('main, nav, header').count()).toBe(3)
  })

  it('follows the colours of the system, and the reader who wants others, also after a reload', async () => {
    const { page } = await openConsole(browser, { script: { name: 'colours' } })
    expect(await colour(page)).toBe('rgb(255, 255, 255)')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await colour(page)).toBe('rgb(18, 22, 28)')
    await page.getByLabel('Colours').selectOption('light')
    expect(await colour(page)).toBe('rgb(255, 255, 255)')
    await page.reload()
    await expect.poll(() => colour(page), patience).toBe('rgb(255, 255, 255)')
  })

  it('takes names or a token from the reader, and shows what is theirs alone', async () => {
    const { on, page, problems } = await openConsole(browser, {
      script: { name: 'who', everyTurn: [{ text: 'Yes.' }] },
    })
    await post(`${on.url}/v1/sessions/hers/tasks`, { action: 'start', input: 'x' }, { 'x-landfall-user': 'ann' })
    const names = page.locator('.session-name')
    const identify = async (field: string, text: string) => {
      await page.getByText(/^Identity/).click()
      await page.getByLabel(field, { exact: true }).fill(text)
      await page.getByRole('button', { name: 'Use this identity' }).click()
    }
    await identify('User', 'ann')
    await expect.poll(() => names.allTextContents(), patience).toEqual(['hers'])
    await identify('User', 'bob')
    await expect.poll(() => names.allTextContents(), patience).toEqual([])
    expect(problems).toEqual([])
    const keys = await issuer()
    const sent: (string | undefined)[] = []
    page.on('request', (request) => sent.push(request.headers().authorization))
    const token = await keys.token({ tenant: 'acme', user: 'ann' })
    await identify('Bearer token', token)
    await expect.poll(() => sent, patience).toContain(`Bearer ${token}`)
    await page.reload()
    await expect.poll(() => sent.at(-1), patience).toBe(`Bearer ${token}`)
  })

  it('shows background tasks under whoever began them, and cancels one', async () => {
    const { on, page, problems } = await openConsole(browser, {
      script: { name: 'back', background: [{ hang: true }] },
    })
    const path = `${on.url}/v1/sessions/one/tasks`
    const parent = await post(path, { kind: 'background', input: 'outer' }, { 'idempotency-key': 'a' })
    const child = { kind: 'background', input: 'inner', parent: parent.body.task }
    await post(path, child, { 'idempotency-key': 'b' })
    await tab(page, 'Work')
    const nested = page.locator('.tree .tree > li')
    await expect.poll(() => nested.textContent(), patience).toContain('running')
    await nested.getByRole('button', { name: /^Cancel/ }).click()
    await expect.poll(() => nested.textContent(), patience).toContain('cancelled')
    expect(await page.locator('.tree > li').first().textContent()).toContain('running')
    expect(problems).toEqual([])
  })

  it('is served by landfall serve, under a policy that lets nothing else in', async () => {
    const command = start(['serve', '--port', '0', '--json'], { cwd: tempFolder() })
    let out = ''
    command.process.stdout?.on('data', (part: string) => {
      out += part
    })
    await command.shows('\n')
    const { url } = JSON.parse(out) as { url: string }
    const answer = await get(`${url}/`)
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    )
    expect((await get(`${url}/../package.json`)).status).toBe(404)
    expect((await get(`${url}/assets/%2e%2e/index.html`)).status).toBe(404)
    const { page, problems } = await newPage(browser, `${url}/#/first`)
    await say(page, 'hello')
    await expect.poll(() => page.locator('.message-assistant').textContent(), patience).toContain('without a model')
    const blocked = await page.evaluate(async () => {
      const script = document.createElement('script')
      script.textContent = 'window.ran = true'
      document.body.append(script)
      return (window as { ran?: boolean }).ran ?? false
    })
    expect(blocked).toBe(false)
    expect(problems).toEqual([expect.stringContaining('Content Security Policy')])
  })
})
