import { viewOf } from '../../../machines/message-reducers.ts'
import { isMessage, type ViewEntry } from '../../../machines/view.ts'
import type { TaskRecord, World } from '../../../machines/world.ts'
import { type CatalogSnapshot, emptySnapshot, parseSnapshot } from '../../capabilities/catalog-snapshot.ts'
import type { StoredFact, StoredFactOf } from '../../facts/envelope.ts'
import type { Log } from '../../facts/log-port.ts'
import type { ModelMessage } from '../../facts/ports.ts'
import type { Scope } from '../../facts/scope.ts'
import { Offers } from '../../runtime/offer.ts'
import { requestDigest } from '../../runtime/request-digest.ts'
import { RequestView } from '../../runtime/request-view.ts'
import { prefixOf, summaryDigest } from '../../runtime/summary-request.ts'
import { TaskDesk } from '../../runtime/task-desk.ts'
import type { Findings } from './findings.ts'

/**
 * Owns: the desks of living tasks, as the runtime would have them, but without content.
 * 1. A view grows with the log, so that a request costs what is new in it. Its digest needs the digests of messages alone;
 *    that the content has them is judged apart.
 * 2. Catalogs are shared content: each is read once a session. The digest of the request covers what of them it offered.
 */
export class RequestCheck {
  readonly #log: Log
  readonly #scope: Scope
  readonly #key: string
  readonly #findings: Findings
  readonly #desks = new Map<string, TaskDesk>()
  readonly #offers = new Offers()
  readonly #catalogs = new Map<string, CatalogSnapshot>()
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
    else if (fact.type !== 'model.requested') return
    else if (fact.data.purpose === 'turn') this.#compare(world, record, fact)
    else this.#compareSummary(world, record, fact)
  }

  #compare(world: World, record: TaskRecord, fact: StoredFactOf<'model.requested'>): void {
    const desk = this.#desks.get(record.id)
    if (desk === undefined || record.started === null) return
    this.#equip(desk, record, record.started.catalog ?? '')
    desk.view.follow(viewOf(world, record.id), outline)
    if (!isPaired(desk.view))
      this.#findings.report('INV-13', fact.seq, 'a request holds a call without exactly one result')
    const assembled = { tools: desk.offer.digest, rolling: desk.view.rolling }
    if (requestDigest(this.#key, record, assembled) === fact.data.request) this.rebuilt += 1
    else this.#findings.report('INV-14', fact.seq, this.#difference(desk, fact))
  }

  #compareSummary(world: World, record: TaskRecord, fact: StoredFactOf<'model.requested'>): void {
    if (summaryDigest(this.#key, prefixOf(world, record.id)) === fact.data.request) this.rebuilt += 1
    else this.#findings.report('INV-14', fact.seq, 'the summary request built again does not have the recorded digest')
  }

  #difference(desk: TaskDesk, { data }: StoredFactOf<'model.requested'>): string {
    if (desk.view.length !== data.messages)
      return `the request built again has ${desk.view.length} messages and not ${data.messages}`
    if (desk.offer.tools.length !== data.tools)
      return `the request built again has ${desk.offer.tools.length} tools and not ${data.tools}`
    return 'the request built again does not have the recorded digest'
  }

  /** A digest of a request needs the digests of active skills, and not their texts. */
  #equip(desk: TaskDesk, record: TaskRecord, catalog: string): void {
    const grants = record.started?.grants ?? {}
    const { snapshot } = desk
    desk.equip(record, {
      offer: (loaded) => this.#offers.of({ key: this.#key, snapshot, catalog, grants, loaded }),
      skill: () => '',
    })
  }

  async #desk(world: World, record: TaskRecord, started: StoredFactOf<'task.started'>): Promise<TaskDesk> {
    return new TaskDesk({
      task: record.id,
      system: '',
      snapshot: await this.#catalog(started),
      tools: new Map(),
      skills: new Map(),
      view: world.ownViews.has(record.id) ? new RequestView() : this.#shared,
    })
  }

  async #catalog({ data, seq }: StoredFactOf<'task.started'>): Promise<CatalogSnapshot> {
    const { catalog } = data
    if (catalog === undefined) return emptySnapshot
    const known = this.#catalogs.get(catalog)
    if (known !== undefined) return known
    try {
      const [body] = await this.#log.content(this.#scope, [{ digest: catalog, step: sharedStep }])
      const snapshot = parseSnapshot(body ?? '')
      this.#catalogs.set(catalog, snapshot)
      return snapshot
    } catch {
      this.#findings.report('INV-14', seq, 'the catalog of a task is missing or damaged')
      return emptySnapshot
    }
  }
}

/** Content that many steps share has no step of its own. */
const sharedStep = 0

/** A message as far as a digest and the pairing of calls and results need it. */
function outline(record: ViewEntry): ModelMessage {
  if (!isMessage(record)) return { role: 'user', content: '' }
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
