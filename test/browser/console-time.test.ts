import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { hasChromium, newPage, sayWithoutChromium } from './chromium.ts'
import { activeIn, consoleScene, HeldCalls, patience, press, say, tab } from './console-kit.ts'
import { lineTo } from './cut-line.ts'

sayWithoutChromium()

const held = new HeldCalls()
const glance = defineTool({
  name: 'shop.glance',
  description: 'Looks for a moment.',
  input: z.object({}),
  effect: 'read',
  run: async () => 'seen',
})
let cuts = 0
const moment = (page: Page) => page.locator('.moment').textContent()
const slider = (page: Page) => page.getByRole('slider', { name: 'Fact' })
const isReady = (page: Page) => page.locator('.moment[data-ready=true]').count()

// Needs Chromium: apt-get install -y chromium.
describe.skipIf(!hasChromium)('time in the console', () => {
  const scene = consoleScene(() => ({
    catalog: [held.tool('shop.look', 'read'), glance],
    scripts: {
      bulk: {
        everyTurn: [
          { calls: Array.from({ length: 100 }, () => ({ name: 'shop.glance', arguments: {} })) },
          { text: 'Seen.' },
        ],
      },
      rich: {
        turns: [[{ calls: [{ name: 'shop.look', arguments: {} }] }, { text: 'Looked.' }]],
        everyTurn: [{ text: 'Yes.' }],
      },
    },
  }))

  it('goes back through a thousand facts without asking for each moment or drawing each fact', async () => {
    const session = scene.session('long')
    let last = 0
    for (; last < 1_000; last = (await session.state()).seq) await (await session.start('bulk')).outcome()
    const { page, problems } = await scene.open('long')
    await expect.poll(() => moment(page), patience).toContain(`${last} facts`)
    await tab(page, 'Facts')
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/state?at=')) asked.push(request.url())
    })
    // As a hand that drags it does: some moments are passed over, and one in ten of those that are shown is painted too.
    const most = await slider(page).evaluate(async (input: HTMLInputElement) => {
      let rows = 0
      for (let seq = Number(input.max); seq >= 1; seq -= seq > 3 ? 3 : 1) {
        input.value = String(seq)
        input.dispatchEvent(new Event('input', { bubbles: true }))
        await (seq % 10 === 0 ? new Promise(requestAnimationFrame) : Promise.resolve())
        rows = Math.max(rows, document.querySelectorAll('.fact').length)
      }
      return rows
    })
    expect(most).toBeLessThan(80)
    await expect.poll(() => moment(page), patience).toContain(`Fact 1 of ${last}`)
    await expect.poll(() => isReady(page), patience).toBe(1)
    expect(asked.length).toBeLessThan(last / 10)
    expect(asked.at(-1)).toMatch(/at=1$/)
    await expect.poll(() => page.locator('.message').count(), patience).toBe(0)
    expect(problems).toEqual([])
  })

  it('shows state, queue, grants, context and the rebuilt request of every moment, and nothing to decide there', async () => {
    const { page, problems, session } = await scene.open('every')
    await say(page, 'rich')
    await expect.poll(() => activeIn(page, 'call'), patience).toContain('call.started')
    await session.followUp('later')
    await session.steer('and the blue one')
    await held.finish('every')
    await expect.poll(async () => (await session.tasks()).at(-1)?.status, patience).toBe('completed')
    const facts = await session.log()
    await expect.poll(() => moment(page), patience).toContain(`${facts.length} facts`)
    await tab(page, 'State')
    await page.getByText('Whole state').click()
    const seen = { queue: 0, steering: 0, grants: 0, requests: new Set<number>() }
    // Every moment at which one of them changes, and some between.
    const telling = /^(model\.requested|task\.|steering\.|session\.)/
    const looked = facts.filter(({ seq, type }) => seq % 4 === 0 || telling.test(type)).map(({ seq }) => seq)
    for (const seq of looked.reverse()) {
      await slider(page).fill(String(seq))
      await expect.poll(() => isReady(page), patience).toBe(1)
      const state = await session.state({ at: seq })
      const shown = await page.evaluate(() => ({
        state: document.querySelector('details[open] > pre')?.textContent ?? '',
        grants: document.querySelectorAll('.grants').length,
        context: document.querySelector('#panel-moment')?.textContent ?? '',
      }))
      expect(JSON.parse(shown.state), `state at ${seq}`).toEqual(JSON.parse(JSON.stringify(state)))
      expect(shown.grants).toBe(Object.values(state.grants).filter((of) => Object.keys(of).length > 0).length)
      expect(shown.context).toContain(`${state.context.messages} messages`)
      seen.queue = Math.max(seen.queue, state.queue.length)
      seen.steering = Math.max(seen.steering, state.steering.length)
      seen.grants = Math.max(seen.grants, shown.grants)
      const request = facts.findLast((fact) => fact.seq <= seq && fact.type === 'model.requested')
      if (request === undefined) expect(shown.context).toContain('None was sent yet.')
      else if (!seen.requests.has(request.seq)) {
        seen.requests.add(request.seq)
        const place = page.locator(`[data-request="${request.seq}"]`)
        await expect.poll(() => place.count(), patience).toBe(1)
        const { messages } = await session.request({ seq: request.seq })
        expect(await place.locator('ol .text').allTextContents()).toEqual(messages.map(({ content }) => content))
      }
    }
    expect(seen).toMatchObject({ queue: 1, steering: 1 })
    expect(seen.grants).toBeGreaterThan(0)
    expect(seen.requests.size).toBe(3)
    // Among them is one at which a turn waited: it stands in the queue, with nothing to press.
    const waits = facts.find(({ type }) => type === 'steering.queued')?.seq ?? 0
    await tab(page, 'Work')
    await slider(page).fill(String(waits))
    await expect.poll(() => page.locator('.queue > li').count(), patience).toBe(1)
    expect(await page.locator('.queue button').count()).toBe(0)
    expect(await page.getByLabel('Message', { exact: true }).count()).toBe(0)
    await press(page, 'Back to live')
    await expect.poll(() => page.locator('.queue > li').count(), patience).toBe(0)
    expect(problems).toEqual([])
  })

  it('shows charts and conversation of a moment as they were, and asks for no moment twice', async () => {
    const { page, problems, session } = await scene.open('one')
    for (const input of ['first', 'second']) await (await session.start(input)).outcome()
    const facts = await session.log()
    const [first, second] = facts.filter(({ type }) => type === 'model.requested').map(({ seq }) => String(seq))
    await expect.poll(() => moment(page), patience).toContain(`${facts.length} facts`)
    await slider(page).fill(first ?? '')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.running.requesting')
    expect(await page.locator('.message .text').allTextContents()).toEqual(['first'])
    // Somebody who has been here before sees it again without a question.
    let questions = 0
    page.on('request', (request) => {
      if (request.url().includes('/state?at=')) questions += 1
    })
    for (const seq of [second, first]) {
      await slider(page).fill(seq ?? '')
      await expect.poll(() => isReady(page), patience).toBe(1)
    }
    expect(questions).toBe(1)
    await press(page, 'Back to live')
    await expect.poll(() => activeIn(page, 'task'), patience).toContain('task.terminal.completed')
    expect(problems).toEqual([])
  })

  it('keeps the place over a reload and a lost connection: session, moment and view', async () => {
    const line = await lineTo(scene.on.url)
    const session = scene.session('kept')
    const { page, problems } = await newPage(scene.browser, `${line.url}/#/kept`)
    for (const input of ['first', 'second']) await (await session.start(input)).outcome()
    const last = (await session.state()).seq
    await expect.poll(() => moment(page), patience).toContain(`${last} facts`)
    await tab(page, 'Facts')
    await slider(page).fill('5')
    await expect.poll(() => page.url(), patience).toMatch(/#\/kept\?at=5&view=facts$/)
    await page.reload()
    await expect.poll(() => moment(page), patience).toContain(`Fact 5 of ${last}`)
    expect(await page.getByRole('tab', { name: 'Facts' }).getAttribute('aria-selected')).toBe('true')
    await expect.poll(() => page.locator('.fact[aria-selected=true]').textContent(), patience).toMatch(/^5/)
    // The connection goes and comes back: the reader stays where they are, and what happened meanwhile is there.
    line.cut()
    await expect.poll(() => page.locator('.link').textContent(), patience).toContain('connection lost')
    expect(await moment(page)).toContain(`Fact 5 of ${last}`)
    await (await session.start('third')).outcome()
    line.mend()
    await expect.poll(() => moment(page), { timeout: 60_000 }).toContain(`Fact 5 of ${(await session.state()).seq}`)
    // An address that names a moment that is not there leads to the present.
    await page.goto(`${line.url}/#/kept?at=9999`)
    await page.reload()
    await expect.poll(() => moment(page), patience).toContain(`${(await session.state()).seq} facts`)
    await expect.poll(() => page.url(), patience).toMatch(/#\/kept$/)
    expect(problems.filter((text) => !/net::ERR_/.test(text))).toEqual([])
  })

  it.each([
    ['is cut', ''],
    ['dropped facts', 'id: ignored\nevent: bus.dropped\ndata: {"type":"bus.dropped","from":4,"to":6,"count":3}\n\n'],
    ['has a hole', 'event: task.started\ndata: {"type":"task.started","seq":9,"resume":"x"}\n\n'],
  ])('gets every fact once when its stream %s: it goes on behind the last one', async (_, rest) => {
    const { page, problems } = await scene.open('other')
    const { on } = scene
    const name = `cut-${cuts}`
    cuts += 1
    const session = scene.session(name)
    await (await session.start('hello')).outcome()
    const facts = await session.log()
    const positions: (string | undefined)[] = []
    await page.route(`**/sessions/${name}/events`, async (route) => {
      positions.push(route.request().headers()['last-event-id'])
      if (positions.length > 1) return route.continue()
      const begun = facts.slice(0, 3).map((fact) => {
        const resume = `position-${fact.seq}`
        return `id: ${resume}\nevent: ${fact.type}\ndata: ${JSON.stringify({ ...fact, resume })}\n\n`
      })
      return route.fulfill({ contentType: 'text/event-stream', body: begun.join('') + rest })
    })
    await page.route(`**/sessions/${name}/events`, async (route) => {
      // A position that only this test knows is told as the real one.
      const position = route.request().headers()['last-event-id']
      if (position !== 'position-3') return route.fallback()
      positions.push(position)
      const real = await fetch(`${on.url}/v1/sessions/${name}/events?ephemeral=false`, {
        signal: AbortSignal.timeout(20_000),
      })
      const reader = real.body?.getReader()
      let text = ''
      while (!text.includes(`"seq":${facts.length},`)) text += new TextDecoder().decode((await reader?.read())?.value)
      await reader?.cancel()
      return route.fulfill({ contentType: 'text/event-stream', body: text })
    })
    await page.goto(`${on.url}/#/${name}`)
    await expect.poll(() => moment(page), patience).toContain(`${facts.length} facts`)
    expect(positions.slice(0, 2)).toEqual([undefined, 'position-3'])
    await tab(page, 'Facts')
    const shown = await page.locator('.fact-seq').allTextContents()
    expect(shown).toEqual(facts.map(({ seq }) => String(seq)))
    expect(problems).toEqual([])
  })
})
