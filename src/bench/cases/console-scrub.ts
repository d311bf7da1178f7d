import { type BenchCase, productOf, resultOf } from '../case.ts'
import { type ConsoleServer, serveConsole } from '../console-server.ts'
import { type BenchEnvironment, sized } from '../environment.ts'
import { elapsedMs, median } from '../measure.ts'
import type { Product } from '../product.ts'
import { figureRow, type Row } from '../result.ts'
import { type PageSteps, scrubInBrowser } from '../scrub-in-browser.ts'
import { openRuntime, runTurn, scopeOf } from '../workload.ts'

interface Steps {
  readonly facts: number
  readonly ms: readonly number[]
  readonly bytes: number
}

interface Scrubbed extends Steps {
  readonly page: PageSteps | string
}

/** What the console asks for at each moment: its state, and the request that was the newest then when it is another one. */
async function scrub({ url, headers }: ConsoleServer, session: string, facts: number): Promise<Steps> {
  const base = `${url}/v1/sessions/${session}`
  let bytes = 0
  const read = async (path: string): Promise<unknown> => {
    const response = await fetch(`${base}/${path}`, { headers })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${text}`)
    bytes += Buffer.byteLength(text)
    return JSON.parse(text)
  }
  const { items } = (await read(`log?limit=1000`)) as { items: readonly { seq: number; type: string }[] }
  bytes = 0
  const requests = items.filter(({ type }) => type === 'model.requested').map(({ seq }) => seq)
  const ms: number[] = []
  let shown = 0
  for (let seq = facts; seq >= 1; seq -= 1) {
    const request = requests.findLast((each) => each <= seq) ?? 0
    ms.push(
      await elapsedMs(async () => {
        const state = read(`state?at=${seq}`) as Promise<{ seq: number }>
        await Promise.all([state, request === shown || request === 0 ? null : read(`request?seq=${request}`)])
        if ((await state).seq !== seq) throw new Error(`the state of ${seq} was not that of ${seq}`)
      }),
    )
    shown = request
  }
  return { facts, ms, bytes }
}

async function measured(env: BenchEnvironment, product: Product, goal: number): Promise<Scrubbed> {
  const runtime = await openRuntime(product, env.directory())
  const scope = scopeOf(0)
  const session = runtime.session(scope)
  const server = await serveConsole(runtime, scope)
  try {
    let facts = 0
    for (let turn = 1; facts < goal; turn += 1) {
      await runTurn(session, turn)
      facts = Math.min((await session.log({ after: facts, limit: 1_000 })).at(-1)?.seq ?? 0, 1_000)
    }
    const steps = await scrub(server, scope.session, facts)
    return { ...steps, page: await scrubInBrowser(server, scope.session) }
  } finally {
    await server.close()
    await runtime.close()
  }
}

const worst = (ms: readonly number[] | undefined): number | null => (ms === undefined ? null : Math.max(...ms))
const middle = (ms: readonly number[] | undefined): number | null => (ms === undefined ? null : median(ms))

function rowsOf(found: Scrubbed | null): readonly Row[] {
  const row = (what: string, unit: string, goal: string, figure: number | null) =>
    figureRow({ what, unit, goal }, figure, null)
  const page = found === null || typeof found.page === 'string' ? undefined : found.page
  return [
    row('step over HTTP, median', 'ms', '-', middle(found?.ms)),
    row('step over HTTP, worst', 'ms', 'product ≤ 50', worst(found?.ms)),
    row('transferred a step', 'KiB', '-', found === null ? null : found.bytes / found.facts / 1024),
    ...(page === undefined
      ? []
      : [
          row('step in the page until it is drawn, median', 'ms', '-', middle(page.drawnMs)),
          row('step in the page until it is drawn, worst', 'ms', 'product ≤ 50', worst(page.drawnMs)),
          row('rest in the page until the state is there, median', 'ms', '-', middle(page.restMs)),
          row('rest in the page until the state is there, worst', 'ms', '-', worst(page.restMs)),
        ]),
  ]
}

export const consoleScrub: BenchCase = {
  name: 'console-scrub',
  run: async (env: BenchEnvironment) => {
    const product = productOf(env)
    const found = product === null ? null : await measured(env, product, sized(env, { quick: 200, normal: 1_000 }))
    const browser = found !== null && typeof found.page === 'string' ? `; ${found.page}` : ''
    return resultOf(env, {
      name: 'console-scrub',
      conditions: `a finished session${found === null ? '' : ` of ${found.facts} facts`} gone through from its end to its start, one fact a step, with the reads of the console; nothing to compare with${browser}`,
      rows: rowsOf(found),
    })
  },
}
