import { cpus } from 'node:os'
import Database from 'better-sqlite3'
import type { BenchCase } from './case.ts'
import { cases } from './cases.ts'
import { type BenchEnvironment, createEnvironment, type Scale } from './environment.ts'
import { loadProduct } from './product.ts'
import { jsonReport, type Machine, textReport } from './report.ts'
import type { Result } from './result.ts'

export interface BenchOptions {
  readonly scale: Scale
  readonly json: boolean
  /** Names of cases; empty for all. */
  readonly only: readonly string[]
}

export class UsageError extends Error {}

const scales = { '--quick': 'quick', '--long': 'long' } as const

export function parseArguments(words: readonly string[]): BenchOptions {
  let scale: Scale = 'normal'
  let json = false
  const only: string[] = []
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ''
    if (word === '--quick' || word === '--long') scale = scales[word]
    else if (word === '--json') json = true
    else if (word === '--only') only.push(knownName(words[++index]))
    else throw new UsageError(`unknown option ${word}: use --quick, --long, --json, --only NAME`)
  }
  return { scale, json, only }
}

function knownName(name: string | undefined): string {
  if (name !== undefined && cases.some((bench) => bench.name === name)) return name
  throw new UsageError(`--only takes one of ${cases.map((bench) => bench.name).join(', ')}`)
}

/** A case that throws is a result too; the others still run. */
export async function runCase(bench: BenchCase, env: BenchEnvironment): Promise<Result> {
  try {
    return await bench.run(env)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { name: bench.name, conditions: 'stopped by an error', availability: 'failed', reason, rows: [] }
  }
}

/** Runs the chosen cases one after another and gives the report. `progress` hears each name before its case begins. */
export async function runBench(
  options: BenchOptions,
  progress: (name: string) => void = () => {},
): Promise<{ report: string; failed: boolean }> {
  const env = createEnvironment(options.scale, await loadProduct())
  const results: Result[] = []
  try {
    for (const bench of cases) {
      if (options.only.length > 0 && !options.only.includes(bench.name)) continue
      progress(bench.name)
      results.push(await runCase(bench, env))
    }
  } finally {
    env.dispose()
  }
  const machine = describeMachine(options.scale)
  return {
    report: options.json ? jsonReport(machine, results) : textReport(machine, results),
    failed: results.some((result) => result.availability === 'failed'),
  }
}

function describeMachine(scale: Scale): Machine {
  const database = new Database(':memory:')
  const sqlite = database.prepare<[], string>('select sqlite_version()').pluck().get() ?? 'unknown'
  database.close()
  const found = cpus()
  return {
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    cpus: found.length,
    cpu: found[0]?.model ?? 'unknown',
    sqlite,
    scale,
  }
}
