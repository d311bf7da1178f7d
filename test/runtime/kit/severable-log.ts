import type { Instance, Log } from '../../../src/facts/log-port.ts'
import type { ProcessTable } from '../../../src/facts/processes.ts'

/** The log as one process sees it. After `sever` it answers nothing more: the process that called is dead. */
export interface Severable {
  readonly log: Log
  sever(): void
}

const host = 'rig'

/** Which of the processes of a rig live. Each runtime of it counts as a process of its own. */
export class FakeProcesses implements ProcessTable {
  readonly host = host
  readonly #living = new Set<number>()
  #last = 0

  startedAt(pid: number): number | null {
    return this.#living.has(pid) ? pid : null
  }

  begin(): number {
    this.#last += 1
    this.#living.add(this.#last)
    return this.#last
  }

  end(pid: number): void {
    this.#living.delete(pid)
  }
}

export function severable(log: Log, processes: FakeProcesses): Severable {
  let dead = false
  const never = new Promise<never>(() => {})
  const pid = processes.begin()
  const own = (argument: unknown): unknown =>
    isInstance(argument) ? { ...argument, host, pid, startedAt: pid } : argument
  return {
    log: new Proxy(log, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property, target)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => (dead ? never : Reflect.apply(value, target, args.map(own)))
      },
    }),
    sever() {
      dead = true
      processes.end(pid)
    },
  }
}

function isInstance(value: unknown): value is Instance {
  return typeof value === 'object' && value !== null && 'pid' in value && 'startedAt' in value
}
