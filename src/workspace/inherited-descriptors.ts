import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

const closeOnExec = 0o2000000
const nothing = '/dev/null'

type Given = 'ignore' | 'pipe' | number

/** The descriptors from a number on that a program started by this process would get from it. */
function inheritedFrom(first: number): readonly number[] {
  const open = readdirSync('/proc/self/fdinfo').map(Number)
  return open.filter((descriptor) => descriptor >= first && !isClosedOnExec(descriptor))
}

function isClosedOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) !== 0
  } catch {
    // It is gone: it was the one by which the folder was read.
    return true
  }
}

/**
 * Starts something with a list of descriptors, behind which nothing of what this process has open is inherited. Whoever started
 * this process may have left files open in it under high numbers, which no flag closes: they are covered by an empty file.
 */
export function withoutInherited<T>(stdio: readonly Given[], start: (all: Given[]) => T): T {
  const all = [...stdio]
  const inherited = inheritedFrom(stdio.length)
  if (inherited.length === 0) return start(all)
  const empty = openSync(nothing, 'r')
  try {
    while (all.length <= Math.max(...inherited)) all.push('ignore')
    for (const descriptor of inherited) all[descriptor] = empty
    return start(all)
  } finally {
    closeSync(empty)
  }
}
