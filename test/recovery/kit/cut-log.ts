import type { Log } from '../../../src/facts/log-port.ts'
import { type FakeProcesses, severable } from '../../runtime/kit/severable-log.ts'

/** Where a process dies: at its nth write, before the store has it or when the store has it and nobody was told. */
export interface Cut {
  readonly write: number
  readonly when: 'before' | 'after'
}

export interface CutLog {
  readonly log: Log
  readonly writes: () => number
  readonly dead: () => boolean
  /** Resolves when the process dies. */
  readonly died: Promise<void>
  kill(): void
}

const writing: ReadonlySet<PropertyKey> = new Set(['append', 'claim', 'settleInbox'])

/** The log of one process that dies at its cut. */
export function cutLog(store: Log, processes: FakeProcesses, cut: Cut | null): CutLog {
  const link = severable(store, processes)
  let writes = 0
  let isDead = false
  let tell = () => {}
  const died = new Promise<void>((resolve) => {
    tell = resolve
  })
  const kill = (): void => {
    link.sever()
    isDead = true
    tell()
  }
  const die = (): Promise<never> => {
    kill()
    return new Promise<never>(() => {})
  }
  const log = new Proxy(link.log, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function' || !writing.has(property)) return value
      return async (...args: unknown[]) => {
        if (isDead) return die()
        writes += 1
        if (cut === null || writes !== cut.write) return Reflect.apply(value, target, args)
        if (cut.when === 'after') await Reflect.apply(value, target, args)
        return die()
      }
    },
  })
  return { log, writes: () => writes, dead: () => isDead, died, kill }
}
