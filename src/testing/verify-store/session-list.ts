import type { Log } from '../../facts/log-port.ts'
import { type Scope, scopeKey } from '../../facts/scope.ts'
import { causeOf } from './findings.ts'

export interface SessionFilter {
  readonly tenant?: string
  readonly user?: string
  readonly session?: string
}

export interface Listed {
  readonly scopes: readonly Scope[]
  readonly problems: readonly string[]
  /** What the store said of the number of its sessions before they were listed; null when it could not say. */
  readonly before: number | null
}

const headsPerPage = 500
const stepsPerPage = 256

/** Every session of the store. Where a damaged head stops the listing, the records themselves say which sessions there are. */
export async function listSessions(log: Log): Promise<Listed> {
  const before = await log.sessionCount().catch(() => null)
  const scopes: Scope[] = []
  try {
    for (;;) {
      const after = scopes.at(-1)
      const page = await log.heads({ limit: headsPerPage, ...(after === undefined ? {} : { after }) })
      for (const head of page) scopes.push(head.scope)
      if (page.length < headsPerPage) return { scopes, problems: [], before }
    }
  } catch (error) {
    const known = new Set(scopes.map(scopeKey))
    const problems = [`a head cannot be read (${causeOf(error)})`]
    try {
      for await (const scope of sessionsOfSteps(log)) if (!known.has(scopeKey(scope))) scopes.push(scope)
    } catch (again) {
      problems.push(`the records cannot be listed (${causeOf(again)})`)
    }
    return { scopes, problems, before }
  }
}

/** The number of sessions is kept apart from their heads. A session may begin while they are listed, and none may go. */
export async function countedSessions(log: Log, listed: Listed): Promise<{ readonly problems: readonly string[] }> {
  const after = await log.sessionCount().catch(() => null)
  if (listed.before === null || after === null) return { problems: ['the number of sessions cannot be read'] }
  const found = listed.scopes.length
  if (found >= listed.before && found <= after) return { problems: [] }
  return { problems: [`the store counts ${after} sessions and ${found} have a head`] }
}

/** Sessions that have records, found by walking all of them. */
export async function* sessionsOfSteps(log: Log): AsyncGenerator<Scope> {
  const seen = new Set<string>()
  let cursor = 0
  for (;;) {
    const steps = await log.tail(cursor, stepsPerPage)
    for (const { scope } of steps) {
      const key = scopeKey(scope)
      if (seen.has(key)) continue
      seen.add(key)
      yield scope
    }
    const last = steps.at(-1)?.cursor
    if (last === undefined || last <= cursor) return
    cursor = last
  }
}
