import { existsSync } from 'node:fs'
import type { ConsoleServer } from './console-server.ts'
import { loadModule } from './product.ts'

export interface PageSteps {
  /** From the move of the slider until the page is drawn. */
  readonly drawnMs: readonly number[]
  /** From the move until the state of that moment is shown, with the time for which the console waits before it asks. */
  readonly restMs: readonly number[]
}

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const rests = 20

/** As much of a driver of browsers as is used here: it is no dependency of the package. */
interface Browser {
  newPage(options: object): Promise<Page>
  close(): Promise<void>
}

interface Page {
  addInitScript(script: string): Promise<void>
  goto(address: string): Promise<unknown>
  evaluate(script: string): Promise<readonly number[]>
}

/** The same in a real browser; where there is none it says so. */
export async function scrubInBrowser(server: ConsoleServer, session: string): Promise<PageSteps | string> {
  const executablePath = process.env.CHROMIUM ?? places.find((place) => existsSync(place))
  if (executablePath === undefined) return 'no Chromium here, so nothing was measured in a page'
  const loaded = await loadModule('playwright-core')
  if ('missing' in loaded) return 'no playwright-core here, so nothing was measured in a page'
  const { chromium } = loaded.found as { chromium: { launch: (options: object) => Promise<Browser> } }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const page = await browser.newPage({ viewport: { width: 1_400, height: 900 } })
    const { tenant, user } = server.scope
    const credentials = JSON.stringify(JSON.stringify({ tenant, user, token: '' }))
    await page.addInitScript(`sessionStorage.setItem('landfall.credentials', ${credentials})`)
    await page.goto(`${server.url}/#/${session}?view=facts`)
    await page.evaluate(begun)
    return { drawnMs: await page.evaluate(drawn), restMs: await page.evaluate(rested) }
  } finally {
    await browser.close()
  }
}

/* What follows runs in the page, as text: it may use nothing of this module. */

const helpers = `
  const slider = document.querySelector('input[type=range]')
  const frame = () => new Promise(requestAnimationFrame)
  const task = () => new Promise((done) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = done; port2.postMessage(0) })
  const go = (seq) => { slider.value = String(seq); slider.dispatchEvent(new Event('input', { bubbles: true })) }
`

const begun = `(async () => {
  while (document.querySelectorAll('.message').length === 0) await new Promise(requestAnimationFrame)
  return []
})()`

const drawn = `(async () => {${helpers}
  const ms = []
  for (let seq = Number(slider.max); seq >= 1; seq -= 1) {
    await frame()
    await task()
    const begun = performance.now()
    go(seq)
    await frame()
    await task()
    ms.push(performance.now() - begun)
  }
  return ms
})()`

const rested = `(async () => {${helpers}
  const ms = []
  const last = Number(slider.max)
  for (let at = ${rests}; at >= 1; at -= 1) {
    const begun = performance.now()
    go(Math.round((last * at) / ${rests}))
    await task()
    while (document.querySelector('.moment').dataset.ready !== 'true') await frame()
    ms.push(performance.now() - begun)
  }
  return ms
})()`
