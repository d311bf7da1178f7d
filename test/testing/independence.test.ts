import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkLog } from '../../src/testing/check-log.ts'
import { answered, asks, opened, turn } from './drafts.ts'
import { buildLog } from './log-builder.ts'
import { finish } from './valid-logs.ts'

const folder = join(import.meta.dirname, '../../src/testing/check-log')
const allowed = /^(node:|\.{1,2}\/(?!.*(machines|facts)\/)|(\.\.\/)+facts\/(envelope|scope)\.ts$)/

it('takes nothing but types from machines, and neither charts, codec nor chain of the product', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  expect(files.length).toBeGreaterThan(20)
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, kind, from = ''] of text.matchAll(/^import (type )?[^;]*?from '([^']+)'/gms)) {
      if (kind && /machines\/(facts|facts-of-work|vocabulary)\.ts$/.test(from)) continue
      expect(`${file}: ${from}`).toSatisfy(() => allowed.test(from))
    }
  }
})

it('finds the one fault at the end of a session of 2,000 turns, and nothing before it', { timeout: 60_000 }, () => {
  const turns = Array.from({ length: 2000 }, (_, index) => index)
  const log = buildLog([
    [opened],
    ...turns.flatMap((index) => [turn(`T${index}`, index * 10), finish(`T${index}`)]),
    turn('last', 20_000),
    [answered('last'), ...asks('last', 1, 0)],
  ])
  const { facts, violations } = checkLog(log)
  expect(facts).toBe(2000 * 8 + 9)
  expect(violations.map(({ invariant, seq }) => [invariant, seq])).toEqual([['INV-15', facts - 1]])
})
