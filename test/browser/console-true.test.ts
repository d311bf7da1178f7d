import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { consoleSite } from '../../src/inspector/console-site.ts'
import { createServer } from '../../src/protocol/create-server.ts'
import { issuer } from '../protocol/kit/tokens.ts'
import { hasChromium, newPage, sayWithoutChromium } from './chromium.ts'
import { activeIn, built, consoleScene, patience, press, say, tab } from './console-kit.ts'

sayWithoutChromium()

const save = defineTool({
  name: 'files.save',
  description: 'Saves.',
  input: z.object({ name: z.string() }),
  effect: 'mutate',
  confirm: 'each',
  run: async () => 'saved \u2066it\u2069',
})
const scripts = {
  save: {
    turns: [[{ text: 'I save \u202egnp.exe', calls: [{ name: 'files.save', arguments: { name: '\u202egnp.exe' } }] }]],
  },
}
const hidden = /[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u061c\ufeff]/

const listProblem = (page: Page) => page.locator('[data-list-problem]').textContent()
const words = (page: Page) => page.locator('#page').textContent()
/** What only somebody who was let in can know. */
const claims = /\d+ sessions?|at work|not begun|no turn|tokens|Nothing was said|Nothing waits/

async function identify(page: Page, field: string, text: string): Promise<void> {
  await page.getByText(/^Identity/).click()
  await page.getByLabel(field, { exact: true }).fill(text)
  await press(page, 'Use this identity')
}

async function openByName(page: Page, name: string): Promise<void> {
  await page.getByLabel('Open or begin').fill(name)
  await press(page, 'Open')
}

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('what the console shows is so', () => {
  const scene = consoleScene(() => ({ catalog: [save], scripts }))

  it('writes out signs that cannot be seen, wherever words of others stand', async () => {
    const name = 'exe\u202egnp'
    const { page, problems, session } = await scene.open(name)
    await session.memory.put('k\u200by', 'v\u200fw')
    await say(page, 'save \u2066this\u2069')
    const decision = page.locator('.decision')
    await expect.poll(() => decision.locator('pre').textContent(), patience).toContain('"⟨U+202E⟩gnp.exe"')
    await session.followUp('later \u202e')
    const isClean = async (where: string) => {
      const told = await page.evaluate(() => {
        const spoken = [...document.querySelectorAll('[aria-label], [aria-valuetext], [title]')].flatMap((element) =>
          ['aria-label', 'aria-valuetext', 'title'].map((each) => element.getAttribute(each) ?? ''),
        )
        return [document.title, document.body.textContent, ...spoken].join(' ')
      })
      expect(told, where).not.toMatch(hidden)
    }
    for (const view of ['Charts', 'Facts', 'Work', 'State', 'Records']) {
      await tab(page, view)
      if (view === 'Records') await page.locator('.note summary').click()
      if (view === 'Records') await expect.poll(() => page.locator('.note pre').textContent(), patience).toContain('v⟨')
      if (view === 'State')
        await expect.poll(() => page.locator('.request').textContent(), patience).toContain('⟨U+2066⟩')
      await isClean(view)
    }
    expect(await page.locator('h2', { hasText: 'exe' }).textContent()).toBe('exe⟨U+202E⟩gnp')
    const bidi = (where: string) =>
      page
        .locator(where)
        .first()
        .evaluate((element) => getComputedStyle(element).unicodeBidi)
    for (const where of ['.session-name', '.decision h3 b', '.message .text', '.decision pre', '.note summary b'])
      expect(await bidi(where), where).toBe('isolate')
    await press(page, 'Allow')
    await expect.poll(() => page.locator('.message-tool').textContent(), patience).toContain('⟨U+2066⟩it⟨U+2069⟩')
    await isClean('after the call')
    expect(problems).toEqual([])
  })

  it('says that words are erased, now and in the past, and takes no more', async () => {
    const { page, problems, session } = await scene.open('emptied')
    await say(page, 'a secret')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    await page.getByLabel('Message', { exact: true }).fill('a secret half')
    await session.close()
    await session.erase()
    const told = page.locator('.conversation')
    await expect.poll(() => told.textContent(), patience).toBe('What was said is erased.')
    await expect.poll(() => page.locator('.past-note').textContent(), patience).toContain('This session is erased')
    expect(await page.getByRole('form', { name: 'Say something' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: /^(Start|Send)$/ }).count()).toBe(0)
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('a secret')
    await page.getByRole('slider', { name: 'Fact' }).fill('2')
    await expect.poll(() => page.locator('.moment[data-ready=true]').count(), patience).toBe(1)
    expect(await told.textContent()).toBe('What was said is erased.')
    await page.reload()
    await expect.poll(() => told.textContent(), patience).toBe('What was said is erased.')
    expect(problems).toEqual([])
  })

  it('says why a reader is refused, and nothing that only others know', async () => {
    const keys = await issuer()
    const { runtime } = scene.on
    const server = createServer(runtime, { identity: keys.identity, site: consoleSite(built) })
    onTestFinished(() => server.close())
    const url = await server.listen()
    const { page } = await newPage(scene.browser, `${url}/#/one`)
    const refusal = page.getByRole('main').getByRole('alert')
    await expect.poll(() => listProblem(page), patience).toMatch(/^IDENTITY_REQUIRED: .+/)
    await expect.poll(() => refusal.textContent(), patience).toMatch(/^IDENTITY_REQUIRED: .+/)
    expect(await words(page)).not.toMatch(claims)
    await identify(page, 'Bearer token', await keys.token({ tenant: 'acme', user: 'ann', sessions: ['one'] }))
    await expect.poll(() => words(page), patience).toContain('0 sessions, 0 at work')
    expect(await listProblem(page)).toBe('')
    await openByName(page, 'two')
    await expect.poll(() => refusal.textContent(), patience).toMatch(/^SCOPE_REQUIRED: .+/)
    await openByName(page, 'one')
    await expect.poll(() => words(page), patience).toContain('not begun')
    expect(await refusal.count()).toBe(0)
  })

  it.each([
    ['that the server refuses', '_x', 'IDENTITY_REQUIRED'],
    ['that is too long', 'x'.repeat(200), 'IDENTITY_REQUIRED'],
    ['that no header holds', 'a\u202eb', 'IDENTITY_UNFIT'],
  ])('says why a tenant %s is refused', async (_, tenant, code) => {
    const { page } = await scene.open('mine')
    await expect.poll(() => words(page), patience).toMatch(/\d+ sessions?, 0 at work/)
    await identify(page, 'Tenant', tenant)
    await expect.poll(() => listProblem(page), patience).toMatch(new RegExp(`^${code}: .+`))
    expect(await words(page)).not.toMatch(claims)
    await openByName(page, 'mine')
    await expect.poll(() => page.getByRole('main').getByRole('alert').textContent(), patience).toContain(code)
    expect(await words(page)).not.toMatch(claims)
  })

  it('opens no name that no request can carry, and shows what the server says of one that is too long', async () => {
    const { page, problems } = await scene.open('named')
    const refusal = page.getByRole('main').getByRole('alert')
    for (const name of ['.', '..']) {
      await openByName(page, name)
      await expect.poll(() => page.locator('.new-session').textContent(), patience).toContain('out of every address')
      expect(new URL(page.url()).hash).toBe('#/named')
    }
    expect(problems).toEqual([])
    await page.goto(`${scene.on.url}/#/..`)
    await expect.poll(() => refusal.textContent(), patience).toContain('out of every address')
    await openByName(page, 'n'.repeat(129))
    await expect.poll(() => page.locator('h2', { hasText: 'nnn' }).textContent(), patience).toHaveLength(129)
    await expect.poll(() => refusal.textContent(), patience).toMatch(/^[A-Z_]+: .+/)
    expect(await words(page)).not.toContain('not begun')
    expect((await scene.session('named').log()).length).toBe(0)
  })
})
