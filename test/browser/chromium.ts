import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const executable = process.env.CHROMIUM ?? places.find((place) => existsSync(place))

export const hasChromium = executable !== undefined && existsSync(executable)

/** Where it must be, its absence is a failure; elsewhere the reader is told what is not tested and how to get it. */
export function sayWithoutChromium(): void {
  if (hasChromium) return
  const message =
    'No Chromium here: pages are not tested. Install it (apt-get install -y chromium), or name one in CHROMIUM.'
  if (process.env.CI === 'true') throw new Error(message)
  process.stderr.write(`${message}\n`)
}

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The popups of an address bar that nobody sees are pages of their own: each context would load and draw them, for more time
  // than most tests take. The last list of features counts, so what playwright names for tests of pages stands here again.
  `--disable-features=${[
    'WebUIOmniboxPopup',
    'WebUIOmniboxAimPopup',
    'SpareRendererForSitePerProcess',
    'AvoidUnnecessaryBeforeUnloadCheckSync',
    'DestroyProfileOnBrowserClose',
    'HttpsUpgrades',
    'MediaRouter',
    'NetworkTimeServiceQuerying',
    'OptimizationHints',
    'PaintHolding',
    'PreconnectToSearch',
  ].join(',')}`,
]

let launched: Promise<Browser> | null = null

/** One browser for all files of a worker, since each page has a context of its own; playwright ends it with the process. */
export async function launch(): Promise<Browser> {
  if (executable === undefined) throw new Error('there is no Chromium')
  launched ??= chromium.launch({ executablePath: executable, args })
  return launched
}

/** A page that fails the test for everything that goes wrong in it, and for every request to anywhere but its own server. */
export async function newPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1_400, height: 900 }, colorScheme: 'light', ...options })
  onTestFinished(() => page.close())
  page.setDefaultTimeout(30_000)
  const problems: string[] = []
  const { origin } = new URL(address)
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) problems.push(request.url())
  })
  await page.goto(address)
  return { page, problems }
}
