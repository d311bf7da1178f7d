import { afterEach, describe, expect, it, vi } from 'vitest'
import type { BenchCase } from '../../src/bench/case.ts'
import { cancelWaiting } from '../../src/bench/cases/cancel-waiting.ts'
import { concurrentSessions } from '../../src/bench/cases/concurrent-sessions.ts'
import { conversationLength } from '../../src/bench/cases/conversation-length.ts'
import { diskBytes } from '../../src/bench/cases/disk-bytes.ts'
import { fanOut } from '../../src/bench/cases/fan-out.ts'
import { idleHeap } from '../../src/bench/cases/idle-heap.ts'
import { idleStart } from '../../src/bench/cases/idle-start.ts'
import { loopBlock } from '../../src/bench/cases/loop-block.ts'
import { sequentialTurn } from '../../src/bench/cases/sequential-turn.ts'
import { createEnvironment, type DisposableEnvironment } from '../../src/bench/environment.ts'
import type { Product } from '../../src/bench/product.ts'
import { runCase } from '../../src/bench/run-bench.ts'
import { fakeProduct } from './fake-product.ts'

// Cases write real files, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

let env: DisposableEnvironment | null = null

const useProduct = (product: Product): DisposableEnvironment => {
  env = createEnvironment('quick', { found: product })
  return env
}

afterEach(() => env?.dispose())

const driven: readonly BenchCase[] = [
  sequentialTurn,
  conversationLength,
  concurrentSessions,
  diskBytes,
  idleStart,
  idleHeap,
  loopBlock,
  fanOut,
  cancelWaiting,
]

describe('with a product, every figure is there', () => {
  it.each(driven.map((bench) => [bench.name, bench] as const))('%s', async (_name, bench) => {
    const result = await runCase(bench, useProduct(fakeProduct()))
    expect(result.reason).toBeUndefined()
    expect(result.availability).toBe('measured')
    expect(result.rows.filter((row) => row.product === null)).toEqual([])
  })
})

describe('a case is a failure, not a figure', () => {
  it('when turns do not complete', async () => {
    const result = await runCase(concurrentSessions, useProduct(fakeProduct({ status: 'failed' })))
    expect(result).toMatchObject({ availability: 'failed', reason: expect.stringContaining('ended failed') })
  })

  it('when the list of sessions is short', async () => {
    const forgetful = useProduct({
      ...fakeProduct(),
      openRuntime: async (options) => ({ ...(await fakeProduct().openRuntime(options)), sessions: async () => [] }),
    })
    expect(await runCase(idleStart, forgetful)).toMatchObject({
      availability: 'failed',
      reason: expect.stringContaining('sessions() listed 0'),
    })
  })

  it('when a delivery is doubled', async () => {
    expect(await runCase(fanOut, useProduct(doubling(fakeProduct())))).toMatchObject({
      availability: 'failed',
      reason: expect.stringContaining('deliveries'),
    })
  })
})

/** A product whose first subscriber hears everything twice. */
function doubling(product: Product): Product {
  return {
    ...product,
    openRuntime: async (options) => {
      const runtime = await product.openRuntime(options)
      let first = true
      return {
        ...runtime,
        events: (scope) => {
          const twice = first
          first = false
          return {
            subscribe: ({ next }) =>
              runtime.events(scope).subscribe({
                next: (fact) => {
                  next(fact)
                  if (twice) next(fact)
                },
              }),
          }
        },
      }
    },
  }
}
