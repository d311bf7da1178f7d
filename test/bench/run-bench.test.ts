import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { BenchCase } from '../../src/bench/case.ts'
import { cancelWaiting } from '../../src/bench/cases/cancel-waiting.ts'
import { cases } from '../../src/bench/cases.ts'
import { createEnvironment, sized } from '../../src/bench/environment.ts'
import { loadModule } from '../../src/bench/product.ts'
import { parseArguments, runCase, UsageError } from '../../src/bench/run-bench.ts'

const absent = { missing: 'no product in this test' }

describe('arguments', () => {
  it('choose scale, form and cases', () => {
    expect(parseArguments([])).toEqual({ scale: 'normal', json: false, only: [] })
    expect(parseArguments(['--quick', '--json', '--only', 'replay', '--only', 'fan-out'])).toEqual({
      scale: 'quick',
      json: true,
      only: ['replay', 'fan-out'],
    })
    expect(parseArguments(['--long']).scale).toBe('long')
  })

  it.each([[['--fast']], [['--only']], [['--only', 'nothing']]])('%s is a usage error', (words) => {
    expect(() => parseArguments(words)).toThrow(UsageError)
  })
})

describe('cases', () => {
  it('have names of their own', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  })

  it('say so when the product is not there, and measure the floor all the same', async () => {
    const env = createEnvironment('quick', absent)
    const result = await runCase(cancelWaiting, env)
    env.dispose()
    expect(result).toMatchObject({ availability: 'not available yet', reason: absent.missing })
    expect(result.rows[0]).toMatchObject({ product: null, ratio: null, floor: expect.any(Number) })
  })

  it('that throw are failed results', async () => {
    const env = createEnvironment('quick', absent)
    const broken: BenchCase = { name: 'broken', run: () => Promise.reject(new Error('it broke')) }
    expect(await runCase(broken, env)).toMatchObject({ name: 'broken', availability: 'failed', reason: 'it broke' })
    env.dispose()
  })
})

describe('the environment', () => {
  it('gives new directories and removes them', () => {
    const env = createEnvironment('normal', absent)
    const [one, other] = [env.directory(), env.directory()]
    expect(one).not.toBe(other)
    expect(existsSync(one)).toBe(true)
    env.dispose()
    expect(existsSync(one)).toBe(false)
  })

  it('sizes by scale, long as normal unless it is given', () => {
    const env = createEnvironment('long', absent)
    expect(sized(env, { quick: 1, normal: 2 })).toBe(2)
    expect(sized(env, { quick: 1, normal: 2, long: 3 })).toBe(3)
    env.dispose()
  })
})

it('a module that cannot be imported is missing with its code', async () => {
  expect(await loadModule('landfall-has-no-such-module')).toMatchObject({
    missing: expect.stringContaining('fails with'),
  })
})
