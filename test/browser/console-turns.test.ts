import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import type { Model } from '../../src/facts/ports.ts'
import { hasChromium, sayWithoutChromium } from './chromium.ts'
import { activeIn, consoleScene, HeldCalls, notice, patience, press, say, tab } from './console-kit.ts'

sayWithoutChromium()

const held = new HeldCalls()
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
const look = { calls: [{ name: 'shop.look', arguments: {} }] }
const buy = (sku: string) => ({ calls: [{ name: 'shop.order', arguments: { sku } }] })
const nasty = '<img src=x onerror="document.title=1"><script>document.title=2</script><b>bold</b>'
/** Thinks until somebody tells it more. */
const thinking: Model = {
  name: 'thinking',
  async *request({ messages }, { signal }) {
    const told = messages.filter(({ role }) => role === 'user').at(-1)?.content ?? ''
    if (!told.includes('one'))
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    yield { type: 'text', text: `Heard: ${told}` }
    yield { type: 'finish', reason: 'stop' }
  },
}
const scripts = {
  stream: {
    turns: [
      [
        { text: 'Looking.', ...look },
        { delayMs: 700, chunks: ['It has ', 'three ', 'files.'] },
      ],
    ],
  },
  '<img': { everyTurn: [{ text: nasty }] },
  steer: { turns: [[look, { text: 'Heard: {{steering}}' }]] },
  interrupt: thinking,
  supersede: { turns: [[{ hang: true as const }], [{ text: 'The other: {{input}}' }]] },
  pause: { turns: [[look, { text: 'Went on.' }]] },
  ask: {
    turns: [[{ calls: [{ name: 'operator_ask', arguments: { question: 'Which colour?' } }] }, { text: 'So {{last}}' }]],
  },
  approve: { turns: [[buy('tea'), buy('gin'), { text: 'Done: {{last}}' }]] },
}

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('turns in the console', () => {
  const scene = consoleScene(() => ({ catalog: [held.tool('shop.look', 'read'), order], scripts }))

  it('shows a turn that streams, and the active states of its task as they move', async () => {
    const { page, problems } = await scene.open('streams')
    await say(page, 'stream')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.running.acting')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    expect(await activeIn(page, 'session')).toContain('session.foreground.active')
    await held.finish('streams')
    // Deltas are shown before the message is there.
    await expect.poll(() => page.locator('.draft .text').allTextContents(), patience).toEqual(['It has '])
    expect(await activeIn(page, 'task')).toContain('task.running.requesting')
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('three files.')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    await expect.poll(() => page.locator('.draft').count(), patience).toBe(0)
    expect(problems).toEqual([])
  })

  it('shows what a model says as text, whatever it looks like', async () => {
    const { page, problems } = await scene.open('<b>nasty')
    await say(page, nasty)
    await expect.poll(() => page.locator('.message-assistant .text').textContent(), patience).toBe(nasty)
    await expect.poll(() => page.locator('.message-user .text').textContent(), patience).toBe(nasty)
    expect(await page.locator('.conversation').locator('img, script, b').count()).toBe(0)
    expect(await page.title()).toBe('<b>nasty – Landfall')
    expect(problems).toEqual([])
  })

  it('steers from the page, and the words are in the next request', async () => {
    const { page, problems, session } = await scene.open('steered')
    await say(page, 'steer me')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    await say(page, 'the blue one', 'Steer')
    await expect.poll(() => notice(page), patience).toContain('Steer: queued')
    await held.finish('steered')
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('the blue one')
    const requests = (await session.log()).filter(({ type }) => type === 'model.requested')
    const said = await Promise.all(
      requests.map(async ({ seq }) => (await session.request({ seq })).messages.map(({ content }) => content)),
    )
    expect(said.map((all) => all.includes('the blue one'))).toEqual([false, true])
    await tab(page, 'State')
    await expect.poll(() => page.locator('.request').textContent(), patience).toContain('the blue one')
    expect(problems).toEqual([])
  })

  it('interrupts: the answer under way is given up, and the words are in the next request', async () => {
    const { page, problems, session } = await scene.open('interrupted')
    await say(page, 'interrupt me')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.running.requesting')
    await say(page, 'stop, the red one', 'Interrupt')
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('the red one')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    const facts = await session.log()
    expect(facts.map(({ type }) => type)).toContain('model.abandoned')
    const last = facts.findLast(({ type }) => type === 'model.requested')?.seq ?? 0
    expect(JSON.stringify((await session.request({ seq: last })).messages)).toContain('stop, the red one')
    expect(problems).toEqual([])
  })

  it('supersedes: the turn ends as superseded, and another takes its place', async () => {
    const { page, problems, session } = await scene.open('superseded')
    await say(page, 'supersede me')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.running.requesting')
    await say(page, 'something else', 'Supersede')
    await expect
      .poll(() => page.locator('.message-assistant').last().textContent(), patience)
      .toContain('The other: something else')
    const tasks = await session.tasks()
    expect(tasks.map(({ status }) => status)).toEqual(['superseded', 'completed'])
    await page.getByLabel('Task', { exact: true }).selectOption(tasks[0]?.id ?? '')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.superseded')
    expect(problems).toEqual([])
  })

  it('pauses a turn and resumes it', async () => {
    const { page, problems } = await scene.open('paused')
    await say(page, 'pause me')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    await press(page, 'Pause')
    await expect.poll(() => notice(page), patience).toContain('Pause')
    await held.finish('paused')
    await expect.poll(() => page.locator('[data-turn]').textContent(), patience).toBe('turn: paused')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.paused')
    expect(await page.locator('.message-assistant .text').allTextContents()).not.toContain('Went on.')
    await page.getByRole('article', { name: 'Paused by an operator' }).getByRole('button', { name: 'Resume' }).click()
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('Went on.')
    await expect.poll(() => page.locator('.decision').count(), patience).toBe(0)
    expect(problems).toEqual([])
  })

  it('takes the answer to a question of the model', async () => {
    const { page, problems, session } = await scene.open('asked')
    await say(page, 'ask me')
    const question = page.getByRole('article', { name: /^Question/ })
    await expect.poll(() => question.textContent(), patience).toContain('Which colour?')
    await question.getByLabel('Your answer').fill('Green, "bright" one')
    await question.getByRole('button', { name: 'Answer' }).click()
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('Green')
    const last = (await session.log()).findLast(({ type }) => type === 'model.requested')?.seq ?? 0
    const { messages } = await session.request({ seq: last })
    expect(messages.at(-1)).toMatchObject({ role: 'tool', content: 'Green, "bright" one' })
    await expect.poll(() => question.count(), patience).toBe(0)
    expect(problems).toEqual([])
  })

  it('takes an approval by a click: what is allowed happens, what is denied does not', async () => {
    const { page, problems, session } = await scene.open('approved')
    await say(page, 'approve')
    const decision = page.getByRole('article', { name: 'Approval: shop.order' })
    await expect.poll(() => decision.textContent(), patience).toContain('tea')
    expect(bought).toEqual([])
    await decision.getByRole('button', { name: 'Allow' }).click()
    await expect.poll(() => decision.textContent(), patience).toContain('gin')
    await decision.getByRole('button', { name: 'Deny' }).click()
    await expect.poll(() => page.locator('.message-assistant').last().textContent(), patience).toContain('Done')
    expect(bought).toEqual([{ sku: 'tea' }])
    expect((await session.calls()).map(({ outcome }) => outcome)).toEqual(['succeeded', 'refused'])
    await expect.poll(() => decision.count(), patience).toBe(0)
    expect(problems).toEqual([])
  })
})
