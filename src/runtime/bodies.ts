import type { ContentAt } from '../../machines/content-at.ts'
import { isMessage, isSummary, type MessageRecord, type ViewEntry } from '../../machines/view.ts'
import type { CallId, Digest, JsonObject, MessageId, PauseToken, TaskId } from '../../machines/vocabulary.ts'
import type { TaskRecord, World } from '../../machines/world.ts'
import { type CatalogSnapshot, parseSnapshot } from '../capabilities/catalog-snapshot.ts'
import { quoteOf, renderMessage } from '../context/conversation.ts'
import { renderObservation } from '../context/observation.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Log } from '../facts/log-port.ts'
import type { ModelMessage } from '../facts/ports.ts'
import type { Scope } from '../facts/scope.ts'
import { isWanted, keptText } from './kept-results.ts'
import { Offers } from './offer.ts'
import { RequestView } from './request-view.ts'

/**
 * Owns: the raw content that a live session needs in memory, each piece under the thing that it belongs to.
 * 1. A piece is here from the step that introduces it (or from hydration) until the step that uses it up.
 * 2. After `hydrate`, every piece that the folded world can still ask for is here, so that steps never wait for the store.
 * 3. Rendered messages are frozen and shared by all requests; they are never copied.
 */
export class Bodies {
  readonly inputs = new Map<TaskId, string>()
  readonly steering = new Map<MessageId, string>()
  /** Answers to pauses of calls, by token, until the call has started again with them. */
  readonly answers = new Map<PauseToken, string>()
  readonly outputs = new Map<CallId, string>()
  readonly arguments = new Map<CallId, JsonObject>()
  readonly messages = new Map<MessageId, ModelMessage>()
  /** What of large outputs is shown once they are observations. */
  readonly previews = new Map<MessageId, ModelMessage>()
  /** Notes of the session, by the digest of their key. */
  readonly memory = new Map<Digest, string>()
  /** Summaries that views show, by digest. */
  readonly summaries = new Map<Digest, string>()
  /** System texts that commands brought, by digest. */
  readonly systems = new Map<Digest, string>()
  /** Catalogs that started tasks hold on to, by digest. */
  readonly catalogs = new Map<Digest, CatalogSnapshot>()
  /** The host's catalog of now, by the body that was digested. */
  catalog: { readonly body: string; readonly digest: Digest } | null = null
  /** Texts of active skills, by digest. */
  readonly skills = new Map<Digest, string>()
  /** Keys of shared content that the store is known to have. */
  readonly stored = new Set<string>()
  readonly offers = new Offers()
  /** Beginnings of user messages, for the note that stands for them once they are left out. */
  readonly quotes = new Map<Digest, string>()
  /** What planner tools read from the store before the step in which they answer. */
  readonly fetched = new Map<CallId, string>()
  /** Final texts of background tasks that somebody may still ask for; of large ones the beginning. */
  readonly results = new Map<TaskId, string>()
  readonly sharedView = new RequestView()

  keepMessage(record: MessageRecord, body: string): void {
    if (record.observed) this.previews.set(record.id, renderObservation(record, body))
    else this.messages.set(record.id, renderMessage(record, body))
    if (record.role === 'user') this.quotes.set(record.digest, quoteOf(body))
  }

  /** Made once from the whole output, which then need not stay in memory. */
  previewOf(entry: MessageRecord): ModelMessage {
    const known = this.previews.get(entry.id)
    if (known !== undefined) return known
    const whole = this.messages.get(entry.id)
    if (whole === undefined)
      throw new LandfallError('INTERNAL', 'A large output is not in memory. Report this as a bug.')
    const made = renderObservation(entry, whole.content)
    this.previews.set(entry.id, made)
    return made
  }

  /** Lets go of what no view shows any more. */
  prune(world: World): void {
    const whole = new Set<string>()
    const short = new Set<string>()
    const quoted = new Set<string>()
    const views = [world.sharedView, ...world.ownViews.values()]
    for (const view of views)
      for (const entry of view.entries) {
        if (isMessage(entry)) (entry.observed ? short : whole).add(entry.id)
        else if (isSummary(entry)) short.add(entry.digest)
        else for (const { digest } of entry.kept) quoted.add(digest)
        if (isMessage(entry) && entry.role === 'user') quoted.add(entry.digest)
      }
    for (const { entries } of views)
      for (const entry of entries) if (isMessage(entry) && entry.observed) this.previewOf(entry)
    for (const id of this.results.keys()) if (!isWanted(world, id)) this.results.delete(id)
    for (const id of this.messages.keys()) if (!whole.has(id)) this.messages.delete(id)
    for (const id of this.previews.keys()) if (!short.has(id)) this.previews.delete(id)
    for (const digest of this.quotes.keys()) if (!quoted.has(digest)) this.quotes.delete(digest)
    for (const digest of this.summaries.keys()) if (!short.has(digest)) this.summaries.delete(digest)
  }

  static async hydrate(world: World, log: Log, scope: Scope): Promise<Bodies> {
    const bodies = new Bodies()
    const wanted = neededBy(world)
    for (let from = 0; from < wanted.length; from += contentPage) {
      const page = wanted.slice(from, from + contentPage)
      const found = await log.content(
        scope,
        page.map((piece) => ({ digest: piece.at.digest, step: piece.at.step })),
      )
      for (const [index, piece] of page.entries()) {
        const body = found[index]
        if (body == null) throw missing(scope, piece.at.digest)
        piece.keep(bodies, body)
      }
    }
    return bodies
  }
}

const contentPage = 500
/** Content that many steps share has no step of its own. */
const sharedStep = 0

interface Piece {
  readonly at: ContentAt
  readonly keep: (bodies: Bodies, body: string) => void
}

/** Nothing of an erased session: its content is gone, and no step will ask for it. */
function neededBy(world: World): readonly Piece[] {
  if (world.session?.matches({ lifecycle: 'erased' }) === true) return []
  const pieces: Piece[] = ofSystem(world.session?.context.settings.system ?? null)
  for (const record of world.taskRecords.values()) if (record.ended === null) pieces.push(...ofTask(record))
  for (const steer of world.steering.values())
    pieces.push({ at: steer, keep: (bodies, body) => bodies.steering.set(steer.message, body) })
  for (const [key, note] of world.memory)
    pieces.push({ at: note, keep: (bodies, body) => bodies.memory.set(key, body) })
  for (const call of world.callRecords.values()) {
    pieces.push({ at: call.arguments, keep: (bodies, body) => bodies.arguments.set(call.id, JSON.parse(body)) })
    const answer = call.resumed
    if (answer?.input != null)
      pieces.push({ at: answer.input, keep: (bodies, body) => bodies.answers.set(answer.token, body) })
    if (call.finished !== null)
      pieces.push({ at: call.finished, keep: (bodies, body) => bodies.outputs.set(call.id, body) })
  }
  for (const { id, ended } of world.taskRecords.values())
    if (ended?.result != null && isWanted(world, id))
      pieces.push({ at: ended.result, keep: (bodies, body) => bodies.results.set(id, keptText(body)) })
  for (const view of [world.sharedView, ...world.ownViews.values()])
    for (const entry of view.entries) pieces.push(...ofEntry(entry))
  return pieces
}

function ofEntry(entry: ViewEntry): readonly Piece[] {
  if (isMessage(entry)) return [{ at: entry, keep: (bodies, body) => bodies.keepMessage(entry, body) }]
  if (isSummary(entry)) return [{ at: entry, keep: (bodies, body) => bodies.summaries.set(entry.digest, body) }]
  return entry.kept.map((at) => ({ at, keep: (bodies, body) => bodies.quotes.set(at.digest, quoteOf(body)) }))
}

function ofTask(record: TaskRecord): readonly Piece[] {
  const system = record.started === null ? record.created.system : record.started.system
  const pieces: Piece[] = []
  if (record.run === null) pieces.push({ at: record.input, keep: (bodies, body) => bodies.inputs.set(record.id, body) })
  pieces.push(...ofSystem(system ?? null))
  const catalog = record.started?.catalog
  if (catalog !== undefined)
    pieces.push({
      at: { digest: catalog, step: sharedStep },
      keep: (bodies, body) => bodies.catalogs.set(catalog, parseSnapshot(body)),
    })
  for (const skill of record.active)
    pieces.push({ at: skill, keep: (bodies, body) => bodies.skills.set(skill.digest, body) })
  return pieces
}

function ofSystem(digest: Digest | null): Piece[] {
  if (digest === null) return []
  return [{ at: { digest, step: sharedStep }, keep: (bodies, body) => bodies.systems.set(digest, body) }]
}

function missing(scope: Scope, digest: Digest): LandfallError {
  return new LandfallError('LOG_CORRUPT', 'Content that the log refers to is missing. Run landfall verify.', {
    details: { session: scope.session, what: `content ${digest}` },
  })
}
