import { viewOf } from '../../../machines/message-reducers.ts'
import { isNote, type ViewEntry } from '../../../machines/view.ts'
import type { TaskRecord, World } from '../../../machines/world.ts'
import type { StoredFact, StoredFactOf } from '../../facts/envelope.ts'
import type { Log } from '../../facts/log-port.ts'
import type { ModelMessage, ModelTool } from '../../facts/ports.ts'
import type { Scope } from '../../facts/scope.ts'
import { definitionKey } from '../../runtime/definition-key.ts'
import { requestDigest } from '../../runtime/desk-builder.ts'
import { newOffer, type Offer } from '../../runtime/offer.ts'
import { RequestView } from '../../runtime/request-view.ts'
import { TaskDesk } from '../../runtime/task-desk.ts'
import type { Findings } from './findings.ts'

/**
 * Owns: the desks of living tasks, as the runtime would have them, but without content.
 * 1. A view grows with the log, so that a request costs what is new in it. Its digest needs the digests of messages alone;
 *    that the content has them is judged apart.
 * 2. Definitions of tools are content without a keyed digest; the digest of the request covers them.
 */
export class RequestCheck {
  readonly #log: Log
  readonly #scope: Scope
  readonly #key: string
  readonly #findings: Findings
  readonly #desks = new Map<string, TaskDesk>()
  readonly #offers = new Map<string, Offer>()
  readonly #shared = new RequestView()
  rebuilt = 0

  constructor(of: { log: Log; scope: Scope; key: string; findings: Findings }) {
    this.#log = of.log
    this.#scope = of.scope
    this.#key = of.key
    this.#findings = of.findings
  }

  /** A fact that the charts have taken. */
  async follow(world: World, fact: StoredFact): Promise<void> {
    if (fact.task === null) return
    const record = world.taskRecords.get(fact.task)
    if (record === undefined) return
    if (record.ended !== null) this.#desks.delete(record.id)
    else if (fact.type === 'task.started') this.#desks.set(record.id, await this.#desk(world, record, fact))
    else if (fact.type === 'model.requested' && fact.data.purpose === 'turn') this.#compare(world, record, fact)
  }

  #compare(world: World, record: TaskRecord, fact: StoredFactOf<'model.requested'>): void {
    const desk = this.#desks.get(record.id)
    if (desk === undefined || record.started === null) return
    desk.view.follow(viewOf(world, record.id), outline)
    if (!isPaired(desk.view))
      this.#findings.report('INV-13', fact.seq, 'a request holds a call without exactly one result')
    if (requestDigest(this.#key, desk, record.started) === fact.data.request) this.rebuilt += 1
    else this.#findings.report('INV-14', fact.seq, this.#difference(desk, fact))
  }

  #difference(desk: TaskDesk, { data }: StoredFactOf<'model.requested'>): string {
    if (desk.view.length !== data.messages)
      return `the request built again has ${desk.view.length} messages and not ${data.messages}`
    if (desk.offer.tools.length !== data.tools)
      return `the request built again has ${desk.offer.tools.length} tools and not ${data.tools}`
    return 'the request built again does not have the recorded digest'
  }

  async #desk(world: World, record: TaskRecord, started: StoredFactOf<'task.started'>): Promise<TaskDesk> {
    const offer = await this.#offer(started)
    return new TaskDesk({
      task: record.id,
      system: '',
      offer,
      view: world.ownViews.has(record.id) ? new RequestView() : this.#shared,
    })
  }

  /** Turns of one catalog share one offer, so it is read and digested once. */
  async #offer({ data, seq }: StoredFactOf<'task.started'>): Promise<Offer> {
    const keys = data.capabilities.map(definitionKey)
    const name = keys.join('\n')
    const known = this.#offers.get(name)
    if (known !== undefined) return known
    const bodies = await this.#log
      .content(
        this.#scope,
        keys.map((key) => ({ digest: key, step: 0 })),
      )
      .catch((): readonly null[] => [])
    const tools: ModelTool[] = []
    for (const [index, ref] of data.capabilities.entries()) {
      const tool = parsed(bodies[index])
      if (tool === null) this.#findings.report('INV-14', seq, `the definition of ${ref.id} is missing or damaged`)
      else tools.push(tool)
    }
    const offer = newOffer(this.#key, new Map(), tools)
    this.#offers.set(name, offer)
    return offer
  }
}

/** A message as far as a digest and the pairing of calls and results need it. */
function outline(record: ViewEntry): ModelMessage {
  if (isNote(record)) return { role: 'user', content: '' }
  const { role, toolCalls, forCall } = record
  return {
    role,
    content: '',
    ...(toolCalls.length === 0
      ? {}
      : { toolCalls: toolCalls.map(({ call, name }) => ({ id: call, name, arguments: null })) }),
    ...(forCall === null ? {} : { toolCallId: forCall }),
  }
}

function isPaired(view: RequestView): boolean {
  try {
    view.take()
    return true
  } catch {
    return false
  }
}

function parsed(body: string | null | undefined): ModelTool | null {
  try {
    const value: unknown = JSON.parse(body ?? 'null')
    return typeof value === 'object' && value !== null ? (value as ModelTool) : null
  } catch {
    return null
  }
}
