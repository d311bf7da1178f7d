import type { Log } from '../../../src/facts/log-port.ts'

/** The log as one process sees it. After `sever` it answers nothing more: the process that called is dead. */
export interface Severable {
  readonly log: Log
  sever(): void
}

export function severable(log: Log): Severable {
  let dead = false
  const never = new Promise<never>(() => {})
  return {
    log: new Proxy(log, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property, target)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => (dead ? never : Reflect.apply(value, target, args))
      },
    }),
    sever() {
      dead = true
    },
  }
}
