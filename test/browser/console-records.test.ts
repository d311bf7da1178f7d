import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { openHarness } from '../contract/kit/sandboxes.ts'
import { hasChromium, sayWithoutChromium } from './chromium.ts'
import { activeIn, consoleScene, HeldCalls, notice, patience, press, say, tab } from './console-kit.ts'
import { Keys } from './keys.ts'

sayWithoutChromium()

const held = new HeldCalls()
const write = { name: 'fs.write', arguments: { path: 'tea2.txt', contents: 'green\n' } }
const scripts = {
  write: { turns: [[{ calls: [write] }, { text: 'Written.' }]] },
  hold: { turns: [[{ calls: [{ name: 'shop.look', arguments: {} }] }, { text: 'Looked.' }]] },
}

async function saved(page: Page, button: string | RegExp): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), new Keys(page).press(button)])
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
}

// Without it there is no copy to make a patch of; the harness says how to get it, and fails without it under CI.
const opened = await openHarness('bubblewrap')
const harness = typeof opened === 'string' ? null : opened
afterAll(() => harness?.dispose())

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('what the console reads, keeps and takes away', () => {
  const from = mkdtempSync(join(tmpdir(), 'landfall-from-'))
  writeFileSync(join(from, 'tea.txt'), 'black\n')
  afterAll(() => rmSync(from, { recursive: true, force: true }))
  const scene = consoleScene(() => ({
    catalog: [held.tool('shop.look', 'read')],
    workspace: harness === null ? { from, isolation: 'none' } : { from, isolation: 'bubblewrap', ...harness.options },
    memoryPolicy: ({ to }) => (to === 'user' ? 'allow' : 'deny'),
    scripts,
  }))

  it('erases a session once its name is typed, and shows nothing of its content any more', async () => {
    const { page, problems, session } = await scene.open('gone')
    await say(page, 'a secret of mine')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    await tab(page, 'Records')
    const erase = page.getByRole('button', { name: 'Erase for ever' })
    const name = page.getByLabel(/^Type the session’s name/)
    expect(await erase.isDisabled()).toBe(true)
    await name.fill('gon')
    expect(await erase.isDisabled()).toBe(true)
    await name.press('Enter')
    await name.fill('gone')
    await erase.click()
    await expect.poll(() => notice(page), patience).toContain('Erase: done')
    await expect.poll(() => page.getByText('its content is gone').count(), patience).toBe(1)
    await expect.poll(() => page.locator('.sessions [aria-current]').textContent(), patience).toContain('erased')
    expect(await page.locator('.message').count()).toBe(0)
    await expect.poll(() => page.content(), patience).not.toContain('a secret of mine')
    expect((await session.state()).session.value).toMatchObject({ lifecycle: 'erased' })
    expect(await session.messages()).toEqual([])
    expect(problems).toEqual([])
  })

  it('takes authority from a running task, and offers none to give', async () => {
    const { page, problems, session } = await scene.open('held')
    await say(page, 'hold')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    await tab(page, 'State')
    const grantOf = async () => Object.values((await session.state()).grants)[0]?.['tool:shop.look']
    const before = await grantOf()
    const row = page.getByRole('row', { name: /^tool:shop\.look/ })
    await expect.poll(() => row.textContent(), patience).toContain(before?.level ?? '')
    await row.getByRole('button', { name: 'Reduce tool:shop.look' }).click()
    const form = page.getByRole('form', { name: 'Reduce tool:shop.look' })
    const levels = await form.getByLabel('New level').locator('option').allTextContents()
    expect(levels).toEqual(['none', 'discover', 'inspect', 'load', 'execute'])
    await form.getByLabel('New level').selectOption('inspect')
    await form.getByLabel('New confirm').selectOption('each')
    await form.getByRole('button', { name: 'Take it away' }).click()
    await expect.poll(() => row.textContent(), patience).toContain('inspecteach')
    expect(await grantOf()).toEqual({ level: 'inspect', confirm: 'each' })
    await row.getByRole('button', { name: 'Reduce tool:shop.look' }).click()
    expect(await form.getByLabel('New level').locator('option').allTextContents()).toEqual(levels.slice(0, 3))
    expect(await form.getByLabel('New confirm').locator('option').allTextContents()).toEqual(['each'])
    // In the past it is told as it was, and nothing can be taken.
    const taken = (await session.log()).find(({ type }) => type === 'grant.reduced')?.seq ?? 0
    await page.getByRole('slider', { name: 'Fact' }).fill(String(taken - 1))
    await expect.poll(() => row.textContent(), patience).toContain(`${before?.level}${before?.confirm}`)
    expect(await page.getByRole('button', { name: /^Reduce/ }).count()).toBe(0)
    await held.finish('held')
    expect(problems).toEqual([])
  })

  it('lists notes, notes something, changes and removes it, of the session and of its user', async () => {
    const { page, problems, session } = await scene.open('noted')
    await say(page, 'hello')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    await session.memory.put('likes/tea', { green: true })
    await session.memory.promote('likes/tea', { to: 'user' })
    await tab(page, 'Records')
    const notes = page.getByRole('list', { name: 'Notes' }).getByRole('listitem')
    await expect.poll(() => notes.allTextContents(), patience).toEqual([expect.stringContaining('likes/tea')])
    await notes.first().getByText('likes/tea').click()
    await expect.poll(() => notes.first().textContent(), patience).toContain('"green": true')
    const note = async (key: string, value: string) => {
      await page.getByLabel('Key', { exact: true }).fill(key)
      await page.getByLabel('Value', { exact: true }).fill(value)
      await press(page, 'Note it')
    }
    await note('size', '"large"')
    await expect.poll(() => notes.count(), patience).toBe(2)
    expect(await session.memory.get('size')).toBe('large')
    await note('size', 'not {json')
    await expect.poll(() => session.memory.get('size'), patience).toBe('not {json')
    await press(page, 'Copy the note size to the tenant')
    await expect.poll(() => notice(page), patience).toContain('AUTHORIZATION_DENIED')
    await press(page, 'Copy the note size to the user')
    await expect.poll(() => notice(page), patience).toContain('Copy to the user: done')
    expect(await session.memory.get('size', 'user')).toBe('not {json')
    await press(page, 'Remove the note size')
    await expect.poll(() => notes.count(), patience).toBe(1)
    expect(await session.memory.get('size')).toBeUndefined()
    await page.getByLabel('Of the user').check()
    const ofUser = ['likes/tea', 'size'].map((key) => expect.stringContaining(key))
    await expect.poll(() => notes.allTextContents(), patience).toEqual(ofUser)
    // What others read already is not copied again.
    expect(await page.getByRole('button', { name: /^Copy the note/ }).count()).toBe(0)
    await press(page, 'Remove the note size')
    await expect.poll(() => notes.count(), patience).toBe(1)
    await press(page, 'Remove the note likes/tea')
    await expect.poll(() => notes.count(), patience).toBe(0)
    expect(await session.memory.list('user')).toEqual([])
    expect(await session.memory.get('likes/tea')).toEqual({ green: true })
    // What the policy denied, as the browser tells it.
    expect(problems).toEqual([expect.stringContaining('403')])
  })

  it('gives the patch and the checkpoint as files', async () => {
    const { page, problems, session } = await scene.open('a b/c')
    await say(page, 'write')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    await tab(page, 'Records')
    if (harness !== null) {
      const patch = await saved(page, 'Download patch')
      expect(patch).toEqual({ name: 'a_b_c.patch', text: await session.patch() })
      expect(patch.text).toContain('+green')
    }
    const now = await saved(page, 'Download checkpoint')
    expect(now.name).toBe('a_b_c.checkpoint.json')
    expect(JSON.parse(now.text)).toEqual(JSON.parse(JSON.stringify(await session.checkpoint())))
    await (await session.start('more')).outcome()
    const first = (await session.log()).find(({ type }) => type === 'task.completed')?.seq ?? 0
    await page.getByRole('slider', { name: 'Fact' }).fill(String(first))
    const then = await saved(page, `Download checkpoint of fact ${first}`)
    expect(then.name).toBe(`a_b_c-${first}.checkpoint.json`)
    expect(JSON.parse(then.text)).toEqual(JSON.parse(JSON.stringify(await session.checkpoint({ at: first }))))
    expect(problems).toEqual([])
  })

  it('shows the ledger up to the moment that is looked at, and leads to its facts', async () => {
    const { page, problems, session } = await scene.open('ledger')
    await say(page, 'write')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    await tab(page, 'Records')
    const entries = [...(await session.ledger())].reverse()
    expect(entries.length).toBeGreaterThan(2)
    const rows = page.getByRole('table', { name: 'Ledger' }).locator('tbody tr')
    await expect.poll(() => rows.count(), patience).toBe(entries.length)
    const told = await rows.allTextContents()
    for (const [at, { seq, kind, ...entry }] of entries.entries()) {
      expect(told[at]).toContain(`${seq}${kind}`)
      if ('evidence' in entry) expect(told[at]).toContain(String(entry.evidence).slice(-12))
    }
    const [, , third] = entries
    await press(page, `Look at fact ${third?.seq}`)
    await expect.poll(() => page.locator('.moment').textContent(), patience).toContain(`Fact ${third?.seq} of`)
    await expect.poll(() => rows.count(), patience).toBe(entries.length - 2)
    expect(problems).toEqual([])
  })
})
