import { spawn } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BenchCase, productOf, resultOf } from '../case.ts'
import { type BenchEnvironment, sized } from '../environment.ts'
import { FloorStore } from '../floor.ts'
import { readBack, replay } from '../floor-replay.ts'
import { rowsATurn } from '../floor-rows.ts'
import { interleave } from '../measure.ts'
import type { Product } from '../product.ts'
import { sampledRow } from '../result.ts'
import { openRuntime, scopeOf } from '../workload.ts'

const writerFile = fileURLToPath(new URL('../killed-writer.js', import.meta.url))

/** A directory as a writer left it that was killed after `turns` turns. */
function writeAndKill(env: BenchEnvironment, subject: 'product' | 'floor', turns: number): Promise<string> {
  const directory = env.directory()
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [writerFile, subject, directory, String(turns)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    child.once('error', fail)
    child.once('exit', (code, signal) => {
      if (signal === 'SIGKILL') done(directory)
      else fail(new Error(`the ${subject} writer ended with ${code ?? signal} before its kill`))
    })
  })
}

/** Each round opens a copy, because opening changes what it finds. */
function copyOf(env: BenchEnvironment, directory: string): string {
  const copy = env.directory()
  cpSync(directory, copy, { recursive: true })
  return copy
}

async function productReady(product: Product, directory: string): Promise<number> {
  const begun = performance.now()
  const runtime = await openRuntime(product, directory)
  const { seq } = await runtime.session(scopeOf(0)).state()
  const ms = performance.now() - begun
  await runtime.close()
  if (seq === 0) throw new Error('the session came back empty')
  return ms
}

async function floorReady(directory: string, expected: number, read: (store: FloorStore) => number): Promise<number> {
  const begun = performance.now()
  const store = new FloorStore(join(directory, 'floor.db'))
  const found = read(store)
  const ms = performance.now() - begun
  store.close()
  if (found !== expected) throw new Error(`the floor came back with ${found} of ${expected}`)
  return ms
}

export const readyAfterKill: BenchCase = {
  name: 'ready-after-kill',
  run: async (env) => {
    const product = productOf(env)
    const turns = sized(env, { quick: 50, normal: 1000 })
    const rounds = sized(env, { quick: 3, normal: 9 })
    const floorLeft = await writeAndKill(env, 'floor', turns)
    const productLeft = product && (await writeAndKill(env, 'product', turns))
    const samples = await interleave<'product' | 'read' | 'replay'>(
      { rounds },
      {
        product: product && productLeft !== null ? () => productReady(product, copyOf(env, productLeft)) : null,
        read: () => floorReady(copyOf(env, floorLeft), turns * rowsATurn, readBack),
        replay: () => floorReady(copyOf(env, floorLeft), turns, replay),
      },
    )
    const unit = 'ms'
    return resultOf(env, {
      name: 'ready-after-kill',
      conditions: `one session of ${turns} turns, its writer killed; open the store to the first state, ${rounds} copies`,
      rows: [
        sampledRow({ what: 'floor: read, parse, fold', unit, goal: 'ratio ≤ 0.5' }, samples.product, samples.replay),
        sampledRow({ what: 'floor: read and parse', unit, goal: '-' }, samples.product, samples.read),
      ],
    })
  },
}
