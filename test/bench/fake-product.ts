import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Fact, Product, Runtime, RuntimeOptions, Scope, Session, Task } from '../../src/bench/product.ts'

/** Facts that the double writes for a turn: enough to count and to deliver. */
export const factsATurn = 4

interface Kept {
  readonly facts: Fact[]
  readonly listeners: Set<(fact: Fact) => void>
}

interface Settings {
  /** How every turn that does not wait ends. */
  readonly status?: string
}

/**
 * A double of the product that keeps sessions in memory, one map a store file. It stands in for the library in tests of the
 * harness alone: that a case drives what it says it drives, and notices what went wrong.
 */
export function fakeProduct(settings: Settings = {}): Product {
  const stores = new Map<string, Map<string, Kept>>()
  const deliver = (kept: Kept, fact: Fact): void => {
    kept.facts.push(fact)
    for (const listener of kept.listeners) listener(fact)
  }
  const open = (options: RuntimeOptions): Runtime => {
    const file = String(options.log)
    mkdirSync(dirname(file), { recursive: true })
    const store = stores.get(file) ?? new Map<string, Kept>()
    stores.set(file, store)
    const keep = (scope: Scope): Kept => {
      const kept = store.get(scope.session) ?? { facts: [], listeners: new Set() }
      store.set(scope.session, kept)
      return kept
    }
    const waits = JSON.stringify(options.model).includes('"hang":true')
    return {
      session: (scope) => fakeSession(() => keep(scope), { deliver, waits, status: settings.status ?? 'completed' }),
      sessions: async () => [...store.keys()],
      events: (scope) => ({
        subscribe: ({ next }) => {
          const { listeners } = keep(scope)
          listeners.add(next)
          return { unsubscribe: () => listeners.delete(next) }
        },
      }),
      close: async () =>
        writeFileSync(file, [...store.values()].flatMap(({ facts }) => facts.map((f) => f.type)).join('\n')),
    }
  }
  return {
    openRuntime: async (options) => open(options),
    scriptedModel: (script) => script,
    defineTool: (definition) => definition,
    sqliteLog: (file) => file,
  }
}

interface Behaviour {
  readonly deliver: (kept: Kept, fact: Fact) => void
  readonly waits: boolean
  readonly status: string
}

function fakeSession(keep: () => Kept, { deliver, waits, status }: Behaviour): Session {
  let cancelled: () => void = () => {}
  return {
    start: async (): Promise<Task> => {
      const kept = keep()
      for (let fact = 0; fact < factsATurn; fact += 1) {
        deliver(kept, { seq: kept.facts.length + 1, type: 'fact', task: 'task', call: null })
      }
      const calls = { total: 1, failed: 0 }
      const end = waits
        ? new Promise<string>((done) => {
            cancelled = () => done('cancelled')
          })
        : Promise.resolve(status)
      return { id: 'task', outcome: async () => ({ status: await end, calls }) }
    },
    cancel: async () => cancelled(),
    state: async (options) => ({ seq: options?.at ?? keep().facts.length }),
    log: async ({ after, limit }) => keep().facts.slice(after, after + limit),
  }
}
