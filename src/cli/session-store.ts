import { LandfallError } from '../facts/errors.ts'
import type { AppendResult, Log } from '../facts/log-port.ts'
import { type Scope, scopeKey } from '../facts/scope.ts'

/** Failures of the store after which waiting helps nobody who sits in front of a terminal. */
const fatal: ReadonlySet<string> = new Set(['STORE_FULL', 'STORE_READONLY', 'STORE_IO', 'LOG_CORRUPT'])

export interface SessionStore {
  /** Rejects when the store does not take records any more. Never resolves. */
  readonly failed: Promise<never>
  readonly log: Log
  /** The session is worked on in this process. */
  owns(): boolean
  /** Its work has no living owner. */
  isOrphaned(): Promise<boolean>
}

/**
 * The store as one command sees it: a runtime on it carries on the command's own session and leaves other unfinished work to
 * processes that stay. `onClaim` may refuse the session before anything of it begins.
 */
export function sessionStore(log: Log, scope: Scope, onClaim: () => Promise<void>): SessionStore {
  let fail: (error: LandfallError) => void = () => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => {})
  let owned = false
  const own: Partial<Log> = {
    heads: (filter) => log.heads(filter.orphaned === true ? { ...filter, ...scope } : filter),
    pendingInbox: async (limit) =>
      (await log.pendingInbox(limit)).filter((other) => scopeKey(other) === scopeKey(scope)),
    append: async (steps) => {
      try {
        const results = await log.append(steps)
        for (const error of results.flatMap(failureOf)) fail(error)
        return results
      } catch (error) {
        if (error instanceof LandfallError && fatal.has(error.code)) fail(error)
        throw error
      }
    },
    claim: async (claimed, instance) => {
      const result = await log.claim(claimed, instance)
      if (!result.claimed) return result
      try {
        await onClaim()
      } catch (error) {
        await log.release(claimed, { id: instance.id, epoch: result.epoch })
        throw error
      }
      owned = true
      return result
    },
    release: async (released, owner) => {
      owned = false
      await log.release(released, owner)
    },
  }
  return {
    failed,
    log: overlaid(log, own),
    owns: () => owned,
    isOrphaned: async () => (await log.heads({ ...scope, orphaned: true, limit: 1 })).length > 0,
  }
}

function failureOf(result: AppendResult): readonly LandfallError[] {
  return !result.ok && fatal.has(result.error.code) ? [result.error] : []
}

/** Everything that is not overlaid goes to the log itself, on which its methods rely. */
function overlaid(log: Log, own: Partial<Log>): Log {
  return new Proxy(log, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
