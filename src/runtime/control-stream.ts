import type { Fact } from '../../machines/facts.ts'
import { zeroHash } from '../facts/chain.ts'
import { sealStep, unpackStep } from '../facts/codec.ts'
import type { UnchainedFact } from '../facts/envelope.ts'
import { LandfallError } from '../facts/errors.ts'
import { nextId } from '../facts/ids.ts'
import type { Content } from '../facts/log-port.ts'
import { controlScope } from '../facts/scope.ts'
import { ControlMemory } from './control-memory.ts'
import { freeText } from './free-text.ts'
import type { Host } from './options.ts'

type ControlType =
  | 'capability.revoked'
  | 'provider.disabled'
  | 'provider.enabled'
  | 'audit.elevated'
  | 'memory.put'
  | 'memory.removed'
  | 'memory.promoted'
export type ControlFact = Pick<Extract<Fact, { type: ControlType }>, 'type' | 'data'>

/** What is appended in one step: facts, with the content that they name by digest. */
export interface ControlStep {
  readonly facts: readonly ControlFact[]
  readonly contents?: readonly Content[]
  readonly command?: string
}

const stepsPerPage = 512
/** Two processes may append at once; the one that was late reads on and appends behind the other. */
const appendTries = 16

/**
 * Owns: what this process knows of the store's control stream.
 * 1. The stream belongs to no owner: an append is accepted where the stream ends, or it is tried again behind what came first.
 * 2. `version` is the seq of the newest fact that is folded here; a step that starts a call names it, and the store refuses the
 *    step when its stream has moved on.
 */
export class ControlStream {
  /** Notes of users and tenants. */
  readonly memory = new ControlMemory()
  readonly #host: Host
  readonly #revoked = new Set<string>()
  readonly #disabled = new Set<string>()
  #reading: Promise<void> = Promise.resolve()
  #end = { seq: 0, step: 0, hash: zeroHash, lastId: '' }

  constructor(host: Host) {
    this.#host = host
  }

  get version(): number {
    return this.#end.seq
  }

  isRevoked(capability: string): boolean {
    return this.#revoked.has(capability)
  }

  isDisabled(provider: string): boolean {
    return this.#disabled.has(provider)
  }

  /** Reads on, to what other processes have written. One read at a time: two would fold the same facts twice, and go back. */
  refresh(): Promise<void> {
    const read = this.#reading.then(() => this.#read())
    this.#reading = read.catch(() => {})
    return read
  }

  async #read(): Promise<void> {
    const { log } = this.#host
    for (;;) {
      const steps = await log.read(controlScope, { after: this.#end.seq, limit: stepsPerPage })
      for (const step of steps) {
        const facts = unpackStep(step)
        for (const fact of facts) this.#fold(fact)
        this.#end = {
          seq: step.firstSeq + step.count - 1,
          step: step.step,
          hash: step.hash,
          lastId: facts.at(-1)?.id ?? '',
        }
      }
      if (steps.length < stepsPerPage) return
    }
  }

  append(actor: string, fact: ControlFact): Promise<void> {
    return this.appendStep(actor, () => ({ facts: [fact] }))
  }

  /**
   * Appends what `plan` makes of the newest state, under the key of the stream's digests; it may be asked again, and throws what
   * refuses. Null: there is nothing to append any more.
   */
  async appendStep(actor: string, plan: (key: string) => ControlStep | null): Promise<void> {
    if (freeText(this.#host.redactor, actor) !== actor)
      throw new LandfallError('INVALID_INPUT', 'The actor looks like a credential. Name who acts.', {
        details: { field: 'actor' },
      })
    for (let tries = 0; tries < appendTries; tries += 1) {
      await this.refresh()
      const stored = await this.key()
      const key = stored ?? Buffer.from(this.#host.random.bytes(32)).toString('hex')
      const step = plan(key)
      if (step === null) return
      const isFirst = stored === null && step.contents !== undefined
      const error = await this.#tryAppend(actor, step, isFirst ? key : null)
      if (error === null) return this.refresh()
      if (error.code !== 'EVENT_CONFLICT') throw error
    }
    throw new LandfallError('STORE_BUSY', 'The control stream is written by too many at once. Try again.', {
      retryable: true,
    })
  }

  /** The key of the stream's digests; null while no content stands in it. */
  async key(): Promise<string | null> {
    return (await this.#host.log.head(controlScope))?.key ?? null
  }

  async #tryAppend(actor: string, planned: ControlStep, key: string | null): Promise<LandfallError | null> {
    const { clock, log } = this.#host
    const { seq, step, hash: prev } = this.#end
    const at = new Date(clock.now()).toISOString()
    const facts = this.#complete(actor, planned, at)
    const [result] = await log.append([
      {
        scope: controlScope,
        step: step + 1,
        firstSeq: seq + 1,
        count: facts.length,
        at,
        prev,
        ...sealStep(prev, facts),
        firstId: facts[0]?.id ?? '',
        lastId: facts.at(-1)?.id ?? '',
        contents: planned.contents ?? [],
        shared: [],
        owner: null,
        summary: { state: 'open', queued: 0, quarantined: 0 },
        unfinished: false,
        ...(key === null ? {} : { key }),
      },
    ])
    return result === undefined || result.ok ? null : result.error
  }

  #complete(actor: string, { facts, command }: ControlStep, at: string): readonly UnchainedFact[] {
    const { ids, instance } = this.#host
    const { seq, step } = this.#end
    let { lastId } = this.#end
    return facts.map(({ type, data }, index) => {
      lastId = nextId(lastId, ids)
      return {
        v: 1,
        id: lastId,
        seq: seq + 1 + index,
        step: step + 1,
        at,
        ...controlScope,
        task: null,
        run: null,
        call: null,
        type,
        data,
        by: { kind: 'operator', id: actor },
        cause: null,
        command: command ?? null,
        owner: { id: instance.id, epoch: 0 },
      } as UnchainedFact
    })
  }

  #fold(fact: Fact): void {
    this.memory.fold(fact)
    const { type, data } = fact
    if (type === 'capability.revoked') this.#revoked.add(data.id)
    else if (type === 'provider.disabled') this.#disabled.add(data.id)
    else if (type === 'provider.enabled') this.#disabled.delete(data.id)
  }
}
