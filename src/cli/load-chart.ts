import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { AnyStateMachine } from 'xstate'
import { LandfallError } from '../facts/errors.ts'
import { importModule } from './import-module.ts'

export interface NamedChart {
  readonly name: string
  readonly machine: AnyStateMachine
}

/** A name that can only be that of a file, or of a chart in one. */
export function isChartFile(name: string): boolean {
  return /[/\\]/.test(name) || /\.[cm]?[jt]s(?:#.*)?$/.test(name)
}

/**
 * Every chart that a module exports, in the order of its names, or the one that is named behind a `#`. The module is code of the
 * user and is trusted.
 */
export async function loadCharts(wanted: string): Promise<readonly NamedChart[]> {
  const { file, name } = await placeOf(wanted)
  const charts = chartsIn(await moduleOf(file))
  if (charts.length === 0)
    throw invalid(file, 'This module exports no XState machine. Export what createMachine gives.')
  if (name === null) return charts
  const named = charts.filter((chart) => chart.name === name)
  if (named.length === 0)
    throw invalid(
      file,
      `This module exports no such chart. Its charts are ${charts.map((each) => each.name).join(', ')}.`,
    )
  return named
}

/** A file whose own name has a `#` is meant as a whole. */
async function placeOf(wanted: string): Promise<{ readonly file: string; readonly name: string | null }> {
  const at = wanted.lastIndexOf('#')
  const isWhole = at < 0 || (await stat(resolve(wanted)).catch(() => null)) !== null
  const file = isWhole ? wanted : wanted.slice(0, at)
  const found = await stat(resolve(file)).catch((cause: unknown) => {
    throw invalid(file, 'There is no such file. Give the path of a module that exports an XState machine.', cause)
  })
  if (found.isDirectory())
    throw invalid(file, 'This is a folder. Give the path of a module in it that exports an XState machine.')
  return { file, name: isWhole ? null : wanted.slice(at + 1) }
}

async function moduleOf(file: string): Promise<object> {
  try {
    return await importModule(file)
  } catch (cause) {
    throw invalid(file, reasonOf(cause), cause)
  }
}

function chartsIn(module: object): readonly NamedChart[] {
  const exported = Object.entries(module)
  const names = new Set(exported.map(([name]) => name))
  // What a CommonJS module exports stands in its default, and Node finds only some of the names by itself.
  const { default: whole } = module as { default?: unknown }
  const inside = isMachine(whole) || typeof whole !== 'object' || whole === null ? [] : Object.entries(whole)
  const charts = [...exported, ...inside.filter(([name]) => !names.has(name))].flatMap(([name, value]) =>
    isMachine(value) ? [{ name: name === 'default' && !names.has(value.id) ? value.id : name, machine: value }] : [],
  )
  // A module that exports the same machine by name and as its default means one chart.
  return charts.filter(({ machine }, at) => charts.findIndex((other) => other.machine === machine) === at)
}

/** By shape: the module may have its own copy of xstate. */
function isMachine(value: unknown): value is AnyStateMachine {
  if (typeof value !== 'object' || value === null) return false
  try {
    const { root, transition, config } = value as { root?: unknown; transition?: unknown; config?: unknown }
    const { states, transitions } = root as { states?: unknown; transitions?: unknown }
    const isChart = typeof transition === 'function' && typeof config === 'object'
    return isChart && typeof states === 'object' && states !== null && transitions instanceof Map
  } catch {
    return false
  }
}

function reasonOf(cause: unknown): string {
  const { code } = (cause ?? {}) as { code?: unknown }
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' || code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING')
    return 'This Node reads no TypeScript. Compile the chart, or use Node 22.18 or later.'
  const why = cause instanceof Error ? cause.message.split(/\s*\n\s*/).join(' ') : String(cause)
  return `The chart cannot be loaded: ${why}`
}

function invalid(file: string, message: string, cause?: unknown): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { file }, cause })
}
