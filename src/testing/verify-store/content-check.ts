import { keyedDigest } from '../../facts/digest.ts'
import type { StoredFact } from '../../facts/envelope.ts'
import type { ContentRef, Log } from '../../facts/log-port.ts'
import type { Scope } from '../../facts/scope.ts'
import type { Findings } from './findings.ts'

interface Piece extends ContentRef {
  readonly seq: number
  readonly what: string
}

/** Content that many steps share has no step of its own. */
const sharedStep = 0
const piecesAtOnce = 64
const bytesAtOnce = 4_194_304

/**
 * Owns: the pieces of content that passed facts name and that have not been looked at.
 * 1. Every piece is read once and compared with its keyed digest; shared ones once a session.
 * 2. What is held at once is bounded by count and by the bytes that the facts tell of.
 */
export class ContentCheck {
  readonly #log: Log
  readonly #scope: Scope
  readonly #key: string
  readonly #findings: Findings
  readonly #shared = new Set<string>()
  #waiting: Piece[] = []
  #bytes = 0

  constructor(of: { log: Log; scope: Scope; key: string; findings: Findings }) {
    this.#log = of.log
    this.#scope = of.scope
    this.#key = of.key
    this.#findings = of.findings
  }

  async follow(fact: StoredFact): Promise<void> {
    for (const { digest, shared } of namedBy(fact)) {
      if (shared) {
        if (this.#shared.has(digest)) continue
        this.#shared.add(digest)
      }
      this.#waiting.push({ digest, step: shared ? sharedStep : fact.step, seq: fact.seq, what: fact.type })
      const { bytes } = fact.data as { bytes?: unknown }
      this.#bytes += typeof bytes === 'number' ? bytes : 0
      if (this.#waiting.length >= piecesAtOnce || this.#bytes >= bytesAtOnce) await this.flush()
    }
  }

  async flush(): Promise<void> {
    const pieces = this.#waiting
    this.#waiting = []
    this.#bytes = 0
    if (pieces.length === 0) return
    const bodies = await this.#log.content(this.#scope, pieces).catch(() => null)
    for (const [index, piece] of pieces.entries())
      this.#judge(piece, bodies === null ? await this.#alone(piece) : (bodies[index] ?? null))
  }

  /** One damaged piece must not hide the others. */
  async #alone(piece: Piece): Promise<string | null> {
    try {
      return (await this.#log.content(this.#scope, [piece]))[0] ?? null
    } catch {
      return null
    }
  }

  #judge({ digest, seq, what }: Piece, body: string | null): void {
    if (body === null) this.#findings.report('INV-14', seq, `the content of ${what} is missing`)
    else if (keyedDigest(this.#key, body) !== digest)
      this.#findings.report('INV-14', seq, `the content of ${what} is not what its digest says`)
  }
}

interface Named {
  readonly digest: string
  readonly shared: boolean
}

/** The content that a fact introduces. Digests of requests, bodies and late results have no content of their own. */
function namedBy(fact: StoredFact): readonly Named[] {
  switch (fact.type) {
    case 'session.opened':
      return shared(fact.data.settings.system)
    case 'task.created':
    case 'task.input_replaced':
      return [...own(fact.data.input), ...shared(fact.data.system)]
    case 'task.started':
      return [...own(fact.data.handoff), ...shared(fact.data.system), ...shared(fact.data.catalog)]
    case 'message.added':
      return [...own(fact.data.digest), ...(fact.data.restored?.note?.kept ?? []).flatMap(own)]
    case 'steering.queued':
    case 'model.completed':
      return own(fact.data.digest)
    case 'call.finished':
      return [...own(fact.data.digest), ...shared(fact.data.tree)]
    case 'call.requested':
      return own(fact.data.arguments)
    case 'capability.loaded':
    case 'capability.activated':
      return own(fact.data.content)
    case 'context.checkpoint':
      return own(fact.data.summary)
    case 'episode.ended':
      return own(fact.data.conclusion)
    case 'memory.put':
      return [...own(fact.data.key), ...own(fact.data.digest)]
    case 'pause.settled':
      return own(fact.data.input)
    default:
      return []
  }
}

function own(digest: string | null | undefined): readonly Named[] {
  return digest == null ? [] : [{ digest, shared: false }]
}

function shared(digest: string | null | undefined): readonly Named[] {
  return digest == null ? [] : [{ digest, shared: true }]
}
