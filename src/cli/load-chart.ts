import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyStateMachine } from 'xstate'
import { LandfallError } from '../facts/errors.ts'

export interface NamedChart {
  readonly name: string
  readonly machine: AnyStateMachine
}

/** A name that can only be that of a file. */
export function isChartFile(name: string): boolean {
  return /[/\\]/.test(name) || /\.[cm]?[jt]s$/.test(name)
}

/** Every chart that a module exports, in the order of its names. The module is code of the user and is trusted. */
export async function loadCharts(file: string): Promise<readonly NamedChart[]> {
  const path = resolve(file)
  await access(path).catch((cause: unknown) => {
    throw invalid(file, 'There is no such file. Give the path of a module that exports an XState machine.', cause)
  })
  let module: Readonly<Record<string, unknown>>
  try {
    module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
  } catch (cause) {
    throw invalid(file, reasonOf(cause), cause)
  }
  const charts = Object.entries(module).flatMap(([name, value]) =>
    isMachine(value) ? [{ name: name === 'default' ? value.id : name, machine: value }] : [],
  )
  if (charts.length === 0)
    throw invalid(file, 'This module exports no XState machine. Export what createMachine gives.')
  // A module that exports the same machine by name and as its default means one chart.
  return charts.filter(({ machine }, at) => charts.findIndex((other) => other.machine === machine) === at)
}

/** By shape: the module may have its own copy of xstate. */
function isMachine(value: unknown): value is AnyStateMachine {
  if (typeof value !== 'object' || value === null) return false
  const { root, transition, config } = value as { root?: unknown; transition?: unknown; config?: unknown }
  return typeof root === 'object' && root !== null && typeof transition === 'function' && typeof config === 'object'
}

function reasonOf(cause: unknown): string {
  const { code } = cause as { code?: unknown }
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' || code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING')
    return 'This Node reads no TypeScript. Compile the chart, or use Node 22.18 or later.'
  const why = cause instanceof Error ? cause.message.split(/\s*\n\s*/).join(' ') : String(cause)
  return `The chart cannot be loaded: ${why}`
}

function invalid(file: string, message: string, cause?: unknown): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { file }, cause })
}
