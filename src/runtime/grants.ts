import { stricterConfirm } from '../../machines/grant-order.ts'
import type { Confirm, Grant, Level } from '../../machines/vocabulary.ts'
import type { CatalogEntry } from '../capabilities/catalog.ts'
import type { Host, PolicyQuestion } from './options.ts'

/**
 * What the host's policy allows. A policy that throws denies, and so does one whose answer is no grant, such as a promise of one; without one, what the host vouches for may be used as it declares,
 * and nothing else.
 */
export function grantFor(host: Host, question: PolicyQuestion, entry: CatalogEntry): Grant {
  const declared: Confirm = entry.kind === 'tool' ? entry.tool.confirm : 'none'
  if (host.policy === null) return { level: defaultLevel(entry), confirm: declared }
  try {
    const { level, confirm = declared } = host.policy(question)
    if (!levels.has(level) || !confirms.has(confirm)) return { level: 'none', confirm: declared }
    return { level: levelOf(entry, level), confirm: stricterConfirm(confirm, declared) }
  } catch {
    return { level: 'none', confirm: declared }
  }
}

const levels: ReadonlySet<unknown> = new Set(['none', 'discover', 'inspect', 'load', 'execute', 'activate'])
const confirms: ReadonlySet<unknown> = new Set(['none', 'once', 'each'])

function defaultLevel(entry: CatalogEntry): Level {
  return entry.described.trust === 'untrusted' ? 'none' : highest(entry)
}

function highest(entry: CatalogEntry): Level {
  return entry.kind === 'tool' ? 'execute' : 'activate'
}

/** The levels of the other kind that mean nothing here: all that may be done with a skill is to activate it. */
function levelOf(entry: CatalogEntry, level: Level): Level {
  if (entry.kind === 'skill') return level === 'execute' ? 'activate' : level === 'load' ? 'inspect' : level
  return level === 'activate' ? 'inspect' : level
}
