import { keyedDigest } from '../../facts/digest.ts'
import type { StoredFact } from '../../facts/envelope.ts'
import type { ContentRef, Log } from '../../facts/log-port.ts'
import type { Scope } from '../../facts/scope.ts'
import { restsOn } from '../../runtime/tree-store.ts'
import type { Findings } from './findings.ts'

interface Piece extends ContentRef {
  readonly seq: number
  readonly what: string
  /** It is the manifest of a tree, which names more. */
  readonly manifest: boolean
}

/** Content that many steps share has no step of its own. */
const sharedStep = 0
const piecesAtOnce = 64
const bytesAtOnce = 4_194_304
/** No fact tells how large the files of a tree are. */
const bytesOfFile = 262_144

/**
 * Owns: the pieces of content that passed facts name and that have not been looked at.
 * 1. Every piece is read once and compared with its keyed digest; shared ones once a session. A tree is its manifest, those that
 *    it rests on, and every file of theirs.
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
    const { bytes } = fact.data as { bytes?: unknown }
    for (const { digest, shared } of namedBy(fact)) {
      const piece = { digest, step: shared ? sharedStep : fact.step, seq: fact.seq, what: fact.type }
      const manifest = fact.type === 'call.finished' && digest === fact.data.tree
      await this.#add({ ...piece, manifest }, typeof bytes === 'number' ? bytes : 0)
    }
  }

  async flush(): Promise<void> {
    while (this.#waiting.length > 0) await this.#look()
  }

  async #add(piece: Piece, bytes: number): Promise<void> {
    if (!this.#isNew(piece)) return
    this.#waiting.push(piece)
    this.#bytes += bytes
    if (this.#waiting.length >= piecesAtOnce || this.#bytes >= bytesAtOnce) await this.#look()
  }

  #isNew({ step, digest }: Piece): boolean {
    if (step !== sharedStep) return true
    if (this.#shared.has(digest)) return false
    this.#shared.add(digest)
    return true
  }

  /** Manifests are followed behind the pieces that stand here, so that what is held at once does not add up. */
  async #look(): Promise<void> {
    const pieces = this.#waiting
    this.#waiting = []
    this.#bytes = 0
    const bodies = await this.#log.content(this.#scope, pieces).catch(() => null)
    const manifests: [Piece, string][] = []
    for (const [index, piece] of pieces.entries()) {
      const body = bodies === null ? await this.#alone(piece) : (bodies[index] ?? null)
      if (this.#judge(piece, body) && piece.manifest && body !== null) manifests.push([piece, body])
    }
    for (const [piece, body] of manifests) await this.#follow(piece, body)
  }

  async #follow(piece: Piece, body: string): Promise<void> {
    const below = restsOn(body)
    if (below === null) return this.#findings.report('INV-14', piece.seq, 'the tree of a call is no manifest')
    for (const digest of below.manifests) await this.#add({ ...piece, digest }, 0)
    const file = { ...piece, what: 'a file of a tree', manifest: false }
    for (const digest of below.files) await this.#add({ ...file, digest }, bytesOfFile)
  }

  /** One damaged piece must not hide the others. */
  async #alone(piece: Piece): Promise<string | null> {
    try {
      return (await this.#log.content(this.#scope, [piece]))[0] ?? null
    } catch {
      return null
    }
  }

  #judge({ digest, seq, what }: Piece, body: string | null): boolean {
    if (body !== null && keyedDigest(this.#key, body) === digest) return true
    const how = body === null ? 'missing' : 'not what its digest says'
    this.#findings.report('INV-14', seq, `the content of ${what} is ${how}`)
    return false
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
