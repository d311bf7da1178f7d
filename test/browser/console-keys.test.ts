import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { OutcomeUnknownError } from '../../src/facts/errors.ts'
import { hasChromium, sayWithoutChromium } from './chromium.ts'
import { activeIn, consoleScene, HeldCalls, notice, patience } from './console-kit.ts'
import { Keys } from './keys.ts'

sayWithoutChromium()

const held = new HeldCalls()
const order = defineTool({
  name: 'shop.order',
  description: 'Orders.',
  input: z.object({}),
  confirm: 'each',
  run: async () => 'ordered',
})
const call = (name: string, args: Record<string, string> = {}) => ({ calls: [{ name, arguments: args }] })
const scripts = {
  talk: { turns: [[call('shop.order'), call('operator_ask', { question: 'Which?' }), { text: 'So {{last}}' }]] },
  think: { everyTurn: [{ hang: true as const }] },
  work: { turns: [[call('shop.look'), call('shop.post'), { text: 'Posted.' }]] },
}

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('the console with the keyboard alone', () => {
  const scene = consoleScene(() => ({
    catalog: [
      order,
      held.tool('shop.look', 'read'),
      held.tool('shop.post', 'mutate', () => {
        throw new OutcomeUnknownError('The line went dead.')
      }),
    ],
    memoryPolicy: () => 'allow' as const,
    scripts,
  }))
  const input = (page: Page) => page.getByRole('textbox', { name: 'Message' })
  const moment = (page: Page) => page.locator('.moment').textContent()

  it('names a session, speaks, approves, answers, looks at every view, goes back in time and returns', async () => {
    const { page, problems } = await scene.open('other')
    const keys = new Keys(page)
    await keys.type(page.getByRole('textbox', { name: 'Open or begin' }), 'keys')
    await page.keyboard.press('Enter')
    await keys.press('Skip to the session')
    await keys.type(input(page), 'talk')
    await page.keyboard.press('Enter')
    await keys.press('Allow')
    await keys.type(page.getByRole('textbox', { name: 'Your answer' }), 'the green one')
    await keys.press('Answer', 'Space')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    for (const name of ['Work', 'State', 'Records', 'Charts', 'Facts']) await keys.view(name)
    await keys.to(page.getByRole('listbox', { name: 'Facts' }))
    await page.keyboard.press('Home')
    await expect.poll(() => moment(page), patience).toContain('Fact 1 of')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => moment(page), patience).toContain('Fact 2 of')
    await keys.to(page.getByRole('slider', { name: 'Fact' }))
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => moment(page), patience).toContain('Fact 3 of')
    await keys.press('One fact on')
    await expect.poll(() => moment(page), patience).toContain('Fact 4 of')
    await keys.press('Live', 'Space')
    await expect.poll(() => moment(page), patience).not.toContain('of')
    await keys.to(page.getByRole('combobox', { name: 'Colours' }))
    await page.keyboard.press('d')
    await expect.poll(() => page.locator('html').getAttribute('data-theme'), patience).toBe('dark')
    expect(problems).toEqual([])
  })

  it('steers, queues, replaces, drops, pauses, resumes, takes authority, cancels, acknowledges', async () => {
    const { page, problems, session } = await scene.open('hands')
    const keys = new Keys(page)
    await keys.type(input(page), 'work')
    await keys.press('Start')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    await keys.choose('Steer')
    await keys.type(input(page), 'gently')
    await keys.press('Send')
    await expect.poll(() => notice(page), patience).toContain('Steer: queued')
    await keys.choose('Follow up')
    for (const [at, text] of ['next', 'last'].entries()) {
      await keys.type(input(page), text)
      await page.keyboard.press('Enter')
      await expect.poll(async () => (await session.state()).queue.length, patience).toBe(at + 1)
    }
    await keys.view('Work')
    const [first = '', second = ''] = (await session.state()).queue.map((id) => `…${id.slice(-6)}`)
    await keys.press(`Replace the turn ${first}`)
    await keys.type(page.getByRole('textbox', { name: 'New input' }), 'instead')
    await keys.press('Use this input')
    await expect.poll(() => notice(page), patience).toContain('Replace: done')
    await keys.press(`Cancel the turn ${second}`)
    await expect.poll(async () => (await session.state()).queue.length, patience).toBe(1)
    await keys.press('Pause')
    await expect.poll(() => notice(page), patience).toContain('Pause')
    await held.finish('hands')
    await keys.press('Resume')
    await expect.poll(async () => (await session.calls()).at(-1)?.name, patience).toBe('shop.post')
    await keys.view('State')
    await keys.press('Reduce tool:shop.order')
    await keys.press('Take it away')
    await expect.poll(() => notice(page), patience).toContain('Reduce tool:shop.order: done')
    await keys.press('Cancel turn')
    await held.finish('hands')
    await keys.press(/^Acknowledge …/)
    await expect.poll(async () => (await session.state()).quarantined, patience).toEqual([])
    await expect.poll(async () => (await session.state()).queue.length, patience).toBe(0)
    expect(problems).toEqual([])
  })

  it('interrupts, supersedes, and unblocks what waits behind a turn that did not complete', async () => {
    const { page, problems, session } = await scene.open('impatient')
    const keys = new Keys(page)
    const send = async (text: string, as: string) => {
      await keys.choose(as)
      await keys.type(input(page), text)
      await keys.press('Send')
    }
    await keys.type(input(page), 'think')
    await page.keyboard.press('Enter')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.running.requesting')
    await send('faster', 'Interrupt')
    await expect.poll(async () => (await session.log()).map(({ type }) => type), patience).toContain('model.abandoned')
    await send('something else', 'Supersede')
    await expect
      .poll(async () => (await session.tasks()).map(({ status }) => status), patience)
      .toEqual(['superseded', undefined])
    await send('afterwards', 'Follow up if it completes')
    await expect.poll(async () => (await session.state()).queue.length, patience).toBe(1)
    await keys.press('Cancel turn')
    await keys.view('Work')
    await keys.press(/^Unblock the turn/)
    await expect.poll(() => page.locator('.message-user .text').allTextContents(), patience).toContain('afterwards')
    await keys.press('Cancel turn')
    await expect.poll(async () => (await session.tasks()).at(-1)?.status, patience).toBe('cancelled')
    expect(problems).toEqual([])
  })

  it('notes, downloads, closes, reopens, erases, and says who it is', async () => {
    const { page, problems, session } = await scene.open('ends')
    const keys = new Keys(page)
    await keys.type(input(page), 'hello')
    await page.keyboard.press('Enter')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    await keys.view('Records')
    await keys.type(page.getByRole('textbox', { name: 'Key' }), 'tea')
    await keys.type(page.getByRole('textbox', { name: 'Value' }), 'green')
    await keys.press('Note it')
    await expect.poll(() => session.memory.get('tea'), patience).toBe('green')
    await keys.press('Copy the note tea to the user')
    await expect.poll(() => session.memory.get('tea', 'user'), patience).toBe('green')
    await keys.press('Remove the note tea')
    await expect.poll(() => session.memory.get('tea'), patience).toBeUndefined()
    const download = page.waitForEvent('download')
    await keys.press('Download checkpoint')
    expect((await download).suggestedFilename()).toBe('ends.checkpoint.json')
    await keys.press('Close session')
    await keys.press('Reopen session')
    await keys.press('Close session')
    await keys.type(page.getByRole('textbox', { name: /^Type the session’s name/ }), 'ends')
    await keys.press('Erase for ever')
    await expect
      .poll(async () => (await session.state()).session.value, patience)
      .toMatchObject({ lifecycle: 'erased' })
    await keys.to(page.locator('.identity summary'))
    await page.keyboard.press('Enter')
    await keys.type(page.getByRole('textbox', { name: 'User' }), 'ann')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.identity summary').textContent(), patience).toBe('Identity: local / ann')
    expect(problems).toEqual([])
  })
})
