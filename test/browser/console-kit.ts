import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, vi } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import type { Model } from '../../src/facts/ports.ts'
import { consoleSite } from '../../src/inspector/console-site.ts'
import type { Script } from '../../src/models/script.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import type { RuntimeOptions } from '../../src/runtime/options.ts'
import type { Session } from '../../src/runtime/session.ts'
import { type Served, serving } from '../protocol/kit/served.ts'
import { launch, newPage } from './chromium.ts'

/** The pages as `npm run build` left them. */
export const built = new URL('../../dist/src/inspector/console/', import.meta.url)

/** Looks often: what a test waits for is mostly there within a moment. */
export const patience = { timeout: 40_000, interval: 10 }

export interface Opened {
  readonly page: Page
  /** Errors of the page, and requests to anywhere but its server. */
  readonly problems: readonly string[]
  readonly session: Session
}

interface Scene extends Partial<Omit<RuntimeOptions, 'log' | 'model'>> {
  /** By the first word that is said in a session; other sessions get an echo. */
  readonly scripts?: { readonly [word: string]: Omit<Script, 'name'> | Model }
}

export interface ConsoleScene {
  readonly browser: Browser
  readonly on: Served
  /** A page that shows a session of the server. */
  open(session: string, options?: BrowserContextOptions): Promise<Opened>
  session(name: string): Session
}

/** One browser and one real server for the tests of a file, each of which works in sessions of its own. */
export function consoleScene(scene: () => Scene = () => ({})): ConsoleScene {
  vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })
  let browser: Browser
  let on: Served
  const folder = mkdtempSync(join(tmpdir(), 'landfall-console-'))
  beforeAll(async () => {
    const { scripts = {}, ...host } = scene()
    const server = { site: consoleSite(built) }
    const opening = serving({ file: join(folder, 'store.db'), ...host, model: castOf(scripts), server })
    ;[browser, on] = await Promise.all([launch(), opening])
  })
  afterAll(async () => {
    await on.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const session = (name: string) => on.runtime.session({ tenant: 'local', user: 'local', session: name })
  return {
    get browser() {
      return browser
    },
    get on() {
      return on
    },
    session,
    open: async (name, options) => ({
      ...(await newPage(browser, `${on.url}/#/${encodeURIComponent(name)}`, options)),
      session: session(name),
    }),
  }
}

/** Plays the script that the first word of a conversation names. */
function castOf(scripts: NonNullable<Scene['scripts']>): Model {
  const cast = new Map(
    Object.entries(scripts).map(([name, of]) => [
      name,
      'request' in of ? of : scriptedModel({ name, ...of } as Script),
    ]),
  )
  const echo = scriptedModel({ name: 'echo', everyTurn: [{ text: 'You said {{input}}' }] })
  return {
    name: 'cast',
    request: (request, context) => {
      const [word = ''] = (request.messages.find(({ role }) => role === 'user')?.content ?? '').split(' ')
      return (cast.get(word) ?? echo).request(request, context)
    },
  }
}

export async function say(page: Page, text: string, action?: string): Promise<void> {
  if (action !== undefined) await page.getByLabel(action, { exact: true }).check()
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.getByRole('button', { name: /^(Start|Send)$/ }).click()
}

export const press = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name, exact: typeof name === 'string' }).click()

export const tab = (page: Page, name: string): Promise<void> => page.getByRole('tab', { name }).click()

/** What the session was told last, and what came of it. */
export const notice = (page: Page): Promise<string | null> => page.locator('.notice-place').textContent()

/** Which states of a chart are marked in its drawing. */
export function activeIn(page: Page, chart: 'session' | 'task' | 'call'): Promise<(string | null)[]> {
  return page
    .locator(`[aria-label="Chart of the ${chart}"] [data-state].active`)
    .evaluateAll((all) => all.map((each) => each.getAttribute('data-state')))
}

interface Gate {
  /** How many calls stand at it. */
  waiting: number
  readonly opened: Promise<void>
  readonly open: () => void
}

function gate(): Gate {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { waiting: 0, opened, open }
}

/** Calls that end when the test says so for their session, and that do not hear an abort. */
export class HeldCalls {
  readonly #gates = new Map<string, Gate>()

  tool(name: string, effect: 'read' | 'mutate', end: () => unknown = () => 'done') {
    return defineTool({
      name,
      description: 'Takes its time.',
      input: z.object({}),
      effect,
      run: async (_, { scope }) => {
        const gate = this.#gate(scope.session)
        gate.waiting += 1
        await gate.opened
        return end()
      },
    })
  }

  /** Lets so many go on, once they are there: a call is told as started before it is. The next ones are held again. */
  async finish(session: string, count = 1): Promise<void> {
    const gate = this.#gate(session)
    while (gate.waiting < count) await new Promise((resolve) => setTimeout(resolve, 5))
    gate.open()
    this.#gates.delete(session)
  }

  #gate(session: string): Gate {
    const known = this.#gates.get(session) ?? gate()
    this.#gates.set(session, known)
    return known
  }
}
