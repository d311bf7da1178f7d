import type { FactType } from '../../machines/facts.ts'
import { sealStep, unpackStep } from '../../src/facts/codec.ts'
import type { StoredFact, UnchainedFact } from '../../src/facts/envelope.ts'
import type { Log } from '../../src/facts/log-port.ts'
import { controlScope, type Scope } from '../../src/facts/scope.ts'
import { sampleData, sampleFact, sampleId } from '../facts/sample-facts.ts'

export const scopeS: Scope = { tenant: 't', user: 'u', session: 's' }
export const firstTask = sampleId(10)
export const otherTask = sampleId(11)

/** Writes steps of one session as its owner would, and gives the facts as the runtime has them after the commit. */
export class SessionWriter {
  readonly facts: StoredFact[] = []
  readonly #log: Log
  readonly #scope: Scope
  #step = 0
  #prev = '0'.repeat(64)
  #epoch = 0

  constructor(log: Log, scope: Scope = scopeS) {
    this.#log = log
    this.#scope = scope
  }

  async write(types: readonly FactType[], how: { task?: string; at?: string } = {}): Promise<StoredFact[]> {
    const instance = { id: sampleId(1), host: 'test', pid: process.pid, startedAt: 0 }
    const control = this.#scope === controlScope
    if (!control && this.#epoch === 0) {
      const claim = await this.#log.claim(this.#scope, instance)
      if (!claim.claimed) throw new Error('somebody else owns the session')
      this.#epoch = claim.epoch
    }
    const owner = { id: instance.id, epoch: this.#epoch }
    const step = this.#step + 1
    const firstSeq = this.facts.length + 1
    const drafts = types.map((type, index) => ({
      ...sampleFact(type, firstSeq + index, step),
      ...this.#scope,
      task: how.task ?? firstTask,
      at: how.at ?? '2026-01-01T00:00:00.000Z',
      data: sampleData[type],
      owner,
    })) as UnchainedFact[]
    const { hash, body } = sealStep(this.#prev, drafts)
    const place = { scope: this.#scope, step, firstSeq, count: drafts.length, prev: this.#prev, hash, body }
    const results = await this.#log.append([
      {
        ...place,
        at: '2026-01-01T00:00:00.000Z',
        firstId: drafts[0]?.id ?? '',
        lastId: drafts.at(-1)?.id ?? '',
        contents: [],
        shared: [],
        owner: control ? null : owner,
        summary: { state: 'open', queued: 0, quarantined: 0 },
        unfinished: true,
      },
    ])
    const result = results[0]
    if (result?.ok !== true) throw result?.error ?? new Error('no result')
    this.#step = step
    this.#prev = hash
    const written = unpackStep({ ...place, cursor: result.cursor })
    this.facts.push(...written)
    return written
  }
}
