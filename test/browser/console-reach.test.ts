import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { OutcomeUnknownError } from '../../src/facts/errors.ts'
import { start } from '../cli/cli-process.ts'
import { tempFolder } from '../log/temp-store.ts'
import { get, post } from '../protocol/kit/served.ts'
import { issuer } from '../protocol/kit/tokens.ts'
import { hasChromium, newPage, sayWithoutChromium } from './chromium.ts'
import { activeIn, consoleScene, HeldCalls, notice, patience, say, tab } from './console-kit.ts'
import { faintTexts, misplaced } from './contrast.ts'

sayWithoutChromium()

const held = new HeldCalls()
const views = ['Charts', 'Facts', 'Work', 'State', 'Records']
const lost = { calls: [{ name: 'shop.post', arguments: {} }] }
const ask = { calls: [{ name: 'operator_ask', arguments: { question: `Which of the ${'many '.repeat(40)}?` } }] }
const colour = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor)

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('who reaches the console', () => {
  const scene = consoleScene(() => ({
    catalog: [
      held.tool('shop.look', 'read'),
      held.tool('shop.post', 'mutate', () => {
        throw new OutcomeUnknownError('The line went dead.')
      }),
    ],
    scripts: { wide: { turns: [[{ text: 'long'.repeat(200), ...lost }, ask]] } },
  }))

  /** A session that has everything to show at once: a quarantine, a question, a queue, a note, long words. */
  async function crowded(name: string, width: number): Promise<{ page: Page; problems: readonly string[] }> {
    const { page, problems, session } = await scene.open(name, { viewport: { width, height: 740 } })
    await say(page, `wide ${'word'.repeat(100)}`)
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    await held.finish(name)
    await expect.poll(() => page.locator('.decision').count(), patience).toBe(1)
    await session.followUp('later')
    await session.memory.put('k'.repeat(200), 'value'.repeat(50))
    await expect.poll(() => page.locator('.banner').count(), patience).toBe(1)
    return { page, problems }
  }

  it.each([
    ['a telephone', 360],
    ['a desk', 1_400],
  ])(
    'fits %s: nothing is scrolled sideways, cut off or out of sight, whatever is shown, in light and dark',
    async (_, width) => {
      const { page, problems } = await crowded(`wide-${width}`, width)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        for (const name of views) {
          await tab(page, name)
          if (name === 'State') await page.getByText('Whole state').click()
          if (name === 'Records') await expect.poll(() => page.locator('.note').count(), patience).toBe(1)
          expect(await misplaced(page), `${name} ${colorScheme}`).toEqual([])
          expect(await faintTexts(page), `${name} ${colorScheme}`).toEqual([])
        }
      }
      await page.getByText(/^Identity/).click()
      expect(await misplaced(page)).toEqual([])
      await page.getByText(/^Identity/).click()
      await page.getByRole('slider', { name: 'Fact' }).fill('4')
      await tab(page, 'Facts')
      expect(await misplaced(page)).toEqual([])
      expect(await faintTexts(page)).toEqual([])
      expect(problems).toEqual([])
    },
  )

  it('names every control for those who hear the page, and tells them what changes', async () => {
    const { page, problems } = await crowded('heard', 1_400)
    for (const name of views) {
      await tab(page, name)
      const heard = await page.locator('body').ariaSnapshot()
      const control =
        /^\s*- (button|textbox|searchbox|combobox|slider|radio|checkbox|link|tab|tabpanel|meter|listbox|table|form)\b/
      const nameless = heard.split('\n').filter((line) => control.test(line) && !/^\s*- \w+ ["/]/.test(line))
      expect(nameless, name).toEqual([])
      for (const mark of ['banner', 'navigation "Sessions"', 'main "Session heard"', 'log "Conversation"', 'tablist'])
        expect(heard, name).toContain(`- ${mark}`)
    }
    // Regions that are there before they have something to say are the ones that are heard.
    const said = page.locator('[role=status][data-announced]')
    expect(await said.textContent()).toMatch(/^Waiting for a decision: Question/)
    const region = await said.elementHandle()
    const place = await page.locator('.notice-place[aria-live=polite]').elementHandle()
    await page
      .getByRole('article', { name: /^Question/ })
      .getByLabel('Your answer')
      .fill('this one')
    await page.getByRole('button', { name: 'Answer' }).click()
    await expect.poll(() => place?.textContent(), patience).toContain('Answer: done')
    await expect.poll(() => region?.textContent(), patience).toBe('Turn completed')
    expect(await page.locator('[role=alert]').getAttribute('aria-label')).toBe('Quarantine')
    expect(await page.locator('[role=log]').getAttribute('aria-live')).toBe('polite')
    expect(await page.locator('.link[role=status]').textContent()).toBe('live')
    expect(problems).toEqual([])
  })

  it('follows the colours of the system, and the reader who wants others, also after a reload', async () => {
    const { page } = await scene.open('colours')
    const becomes = (rgb: string) => expect.poll(() => colour(page), patience).toBe(rgb)
    await becomes('rgb(255, 255, 255)')
    await page.emulateMedia({ colorScheme: 'dark' })
    await becomes('rgb(18, 22, 28)')
    await page.getByRole('combobox', { name: 'Colours' }).selectOption('light')
    await becomes('rgb(255, 255, 255)')
    await page.reload()
    await becomes('rgb(255, 255, 255)')
  })

  it('takes names or a token from the reader, and shows what is theirs alone', async () => {
    const { page, problems } = await scene.open('mine')
    const { on } = scene
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

  it('lists every session, however many pages they are, with those at work first', async () => {
    const { on } = scene
    const many = { tenant: 'local', user: 'many' }
    for (const session of ['a', 'b', 'c', 'd', 'zz'])
      await on.runtime
        .session({ ...many, session })
        .followUp('hello')
        .then((task) => task.outcome())
    const { page, problems } = await scene.open('mine')
    let pages = 0
    // Pages as small as this one stand for thousands of sessions.
    await page.route('**/v1/sessions?limit=1000*', (route) => {
      pages += 1
      return route.continue({ url: route.request().url().replace('limit=1000', 'limit=2') })
    })
    await page.getByText(/^Identity/).click()
    await page.getByLabel('User', { exact: true }).fill('many')
    await page.getByRole('button', { name: 'Use this identity' }).click()
    const names = page.locator('.session-name')
    await expect.poll(() => names.allTextContents(), patience).toEqual(['zz', 'd', 'c', 'b', 'a'])
    expect(await page.locator('.sessions > .hint').first().textContent()).toBe('5 sessions, 0 at work')
    // The one that is open is kept up to date without a reading of all.
    await page.getByText('b', { exact: true }).click()
    await expect.poll(() => page.locator('.link').textContent(), patience).toBe('live')
    const before = pages
    await say(page, 'again')
    await expect.poll(() => names.allTextContents(), patience).toEqual(['b', 'zz', 'd', 'c', 'a'])
    expect(pages).toBe(before)
    expect(problems).toEqual([])
  })

  it('works offline: whatever is done, no request leaves its own server', async () => {
    const { origin } = new URL(scene.on.url)
    const asked = new Set<string>()
    const context = await scene.browser.newContext()
    await context.route('**', (route) => {
      const url = new URL(route.request().url())
      asked.add(url.origin)
      return url.origin === origin ? route.continue() : route.abort()
    })
    const page = await context.newPage()
    await page.goto(`${scene.on.url}/#/offline`)
    await say(page, 'hello')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    for (const name of views) await tab(page, name)
    await page.getByRole('slider', { name: 'Fact' }).fill('3')
    await expect.poll(() => page.locator('.moment[data-ready=true]').count(), patience).toBe(1)
    const named = await page.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin),
    )
    expect([...new Set([...asked, ...named])]).toEqual([origin])
    await context.close()
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
    const { page, problems } = await newPage(scene.browser, `${url}/#/first`)
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
    expect(await notice(page)).toContain('Start: done')
  })
})
