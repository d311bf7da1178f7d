import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Instance } from './log-port.ts'

/** What one host knows of its processes. Two hosts, or two containers that do not see each other's processes, have two names. */
export interface ProcessTable {
  readonly host: string
  /** When the process started, in a unit of the host's own; `unknownStart` when it lives and cannot say; null when it is gone. */
  startedAt(pid: number): number | null
}

export const unknownStart = 0

export function hostProcesses(): ProcessTable {
  return { host: `${hostname()}${pidNamespace()}`, startedAt: processStart }
}

/** The instance row of a runtime in this process. */
export function thisInstance(id: string, processes: ProcessTable = hostProcesses()): Instance {
  return {
    id,
    host: processes.host,
    pid: process.pid,
    startedAt: processes.startedAt(process.pid) ?? unknownStart,
  }
}

/** Containers often share a host name on purpose; their process numbers mean nothing to each other. */
function pidNamespace(): string {
  try {
    return `/${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return ''
  }
}

function processStart(pid: number): number | null {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return null
  }
  return process.platform === 'linux' ? linuxStart(pid) : unknownStart
}

/** `/proc/PID/stat`: the name in parentheses may hold anything, so fields are counted after it; state first, start time 20th. */
function linuxStart(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : Number(fields[19] ?? unknownStart)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : unknownStart
  }
}
