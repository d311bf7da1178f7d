import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type BenchCase, productOf, resultOf } from '../case.ts'
import { type BenchEnvironment, sized } from '../environment.ts'
import { perSecond } from '../measure.ts'
import { entryPoints, loadModule, type Product, type Runtime } from '../product.ts'
import { figureRow } from '../result.ts'
import { openRuntime, runTurns, scopeOf } from '../workload.ts'
import { longestBlockMs } from './loop-block.ts'

const readerFile = fileURLToPath(new URL('../sse-reader.js', import.meta.url))

interface Server {
  listen(): Promise<string>
  close(): Promise<void>
}

interface Load {
  readonly subscribers: number
  readonly sessions: number
  readonly turns: number
}

interface Delivered {
  readonly deliveries: number
  readonly ms: number
  readonly blockMs: number
}

async function serverOn(runtime: Runtime): Promise<Server> {
  const loaded = await loadModule(entryPoints.server)
  if ('missing' in loaded) throw new Error(loaded.missing)
  const { createServer } = loaded.found as { createServer: (runtime: Runtime) => Server }
  return createServer(runtime)
}

/** Everybody reads in another process; a fact that is missing or comes twice is a failure and no figure. */
async function underLoad(
  product: Product,
  directory: string,
  { subscribers, sessions, turns }: Load,
): Promise<Delivered> {
  const runtime = await openRuntime(product, directory)
  const server = await serverOn(runtime)
  const words = [await server.listen(), subscribers, sessions, turns].map(String)
  const reader = spawn(process.execPath, [readerFile, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const ended = new Promise<never>((_, reject) => {
      reader.once('error', reject)
      reader.once('exit', (code) => code !== 0 && reject(new Error(`the reader ended with ${code}`)))
    })
    const lines = createInterface({ input: reader.stdout })[Symbol.asyncIterator]()
    await Promise.race([lines.next(), ended])
    let deliveries = 0
    const begun = performance.now()
    const blockMs = await longestBlockMs(async () => {
      await Promise.all(Array.from({ length: sessions }, (_, at) => runTurns(runtime.session(scopeOf(at)), 1, turns)))
      const { value } = await Promise.race([lines.next(), ended])
      const told = JSON.parse(String(value)) as { deliveries: number; faults: number }
      if (told.faults > 0) throw new Error(`${told.faults} facts were missing or came twice`)
      deliveries = told.deliveries
    })
    return { deliveries, blockMs, ms: performance.now() - begun }
  } finally {
    reader.kill('SIGKILL')
    await server.close()
    await runtime.close()
  }
}

export const httpSubscribers: BenchCase = {
  name: 'http-subscribers',
  run: async (env: BenchEnvironment) => {
    const product = productOf(env)
    const load = {
      subscribers: sized(env, { quick: 200, normal: 1_000 }),
      sessions: 64,
      turns: sized(env, { quick: 1, normal: 5 }),
    }
    const found = product === null ? null : await underLoad(product, env.directory(), load)
    return resultOf(env, {
      name: 'http-subscribers',
      conditions: `${load.subscribers} event streams of another process on ${load.sessions} sessions that work at once, ${load.turns} durable turns each, every fact counted; nothing to compare with`,
      rows: [
        figureRow({ what: 'longest block', unit: 'ms', goal: 'product ≤ 50' }, found?.blockMs ?? null, null),
        figureRow(
          { what: 'deliveries', unit: '/s', goal: '—' },
          found === null ? null : perSecond(found.deliveries, found.ms),
          null,
        ),
      ],
    })
  },
}
