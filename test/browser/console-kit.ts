import type { Browser, Page } from 'playwright-core'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { consoleSite } from '../../src/inspector/console-site.ts'
import type { Script } from '../../src/models/script.ts'
import type { RuntimeOptions } from '../../src/runtime/options.ts'
import { type Served, served } from '../protocol/kit/served.ts'
import { newPage } from './chromium.ts'

/** The pages as `npm run build` left them. */
const built = new URL('../../dist/src/inspector/console/', import.meta.url)

export const patience = { timeout: 20_000 }

export interface Opened {
  readonly on: Served
  readonly page: Page
  /** Errors of the page, and requests to anywhere but its server. */
  readonly problems: readonly string[]
}

interface Scene extends Partial<Omit<RuntimeOptions, 'log'>> {
  readonly script: Script
  readonly session?: string
}

/** A real server with the console, and a page that shows a session of it. */
export async function openConsole(browser: Browser, { session = 'one', ...scene }: Scene): Promise<Opened> {
  const on = await served({ ...scene, server: { site: consoleSite(built) } })
  const { page, problems } = await newPage(browser, `${on.url}/#/${session}`)
  return { on, page, problems }
}

export async function say(page: Page, text: string, action?: string): Promise<void> {
  if (action !== undefined) await page.getByLabel(action, { exact: true }).check()
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.getByRole('button', { name: /^(Start|Send)$/ }).click()
}

export const tab = (page: Page, name: string): Promise<void> => page.getByRole('tab', { name }).click()

/** Which states of a chart are marked in its drawing. */
export function activeIn(page: Page, chart: 'session' | 'task' | 'call'): Promise<(string | null)[]> {
  return page
    .locator(`[aria-label="Chart of the ${chart}"] [data-state].active`)
    .evaluateAll((all) => all.map((each) => each.getAttribute('data-state')))
}

/** A call that ends when the test says so, and that does not hear its abort unless it is told to. */
export function slowTool(name = 'shop.order', effect: 'read' | 'mutate' = 'mutate') {
  let finish: (value: unknown) => void = () => {}
  const finished = new Promise<unknown>((resolve) => {
    finish = resolve
  })
  const tool = defineTool({
    name,
    description: 'Takes its time.',
    input: z.object({}),
    effect,
    run: () => finished,
  })
  return { tool, finish: () => finish('done') }
}
