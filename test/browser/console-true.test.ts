import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { hasChromium, sayWithoutChromium } from './chromium.ts'
import { consoleScene, patience, press, say, tab } from './console-kit.ts'

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
})
