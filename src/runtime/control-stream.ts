import type { Fact } from '../../machines/facts.ts'
import { zeroHash } from '../facts/chain.ts'
import { sealStep, unpackStep } from '../facts/codec.ts'
import type { UnchainedFact } from '../facts/envelope.ts'
import { LandfallError } from '../facts/errors.ts'
import { nextId } from '../facts/ids.ts'
import { controlScope } from '../facts/scope.ts'
import { freeText } from './free-text.ts'
import type { Host } from './options.ts'

type ControlFact = Pick<
  Extract<Fact, { type: 'capability.revoked' | 'provider.disabled' | 'provider.enabled' | 'audit.elevated' }>,
  'type' | 'data'
>

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

  async append(actor: string, fact: ControlFact): Promise<void> {
    if (freeText(this.#host.redactor, actor) !== actor)
      throw new LandfallError('INVALID_INPUT', 'The actor looks like a credential. Name who acts.', {
        details: { field: 'actor' },
      })
    for (let tries = 0; tries < appendTries; tries += 1) {
      await this.refresh()
      const error = await this.#tryAppend(actor, fact)
      if (error === null) return this.refresh()
      if (error.code !== 'EVENT_CONFLICT') throw error
    }
    throw new LandfallError('STORE_BUSY', 'The control stream is written by too many at once. Try again.', {
      retryable: true,
    })
  }

  async #tryAppend(actor: string, { type, data }: ControlFact): Promise<LandfallError | null> {
    const { clock, ids, instance, log } = this.#host
    const { seq, step, hash: prev, lastId } = this.#end
    const id = nextId(lastId, ids)
    const at = new Date(clock.now()).toISOString()
    const fact = {
      v: 1,
      id,
      seq: seq + 1,
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
      command: null,
      owner: { id: instance.id, epoch: 0 },
    } as UnchainedFact
    const [result] = await log.append([
      {
        scope: controlScope,
        step: step + 1,
        firstSeq: seq + 1,
        count: 1,
        at,
        prev,
        ...sealStep(prev, [fact]),
        firstId: id,
        lastId: id,
        contents: [],
        shared: [],
        owner: null,
        summary: { state: 'open', queued: 0, quarantined: 0 },
        unfinished: false,
      },
    ])
    return result === undefined || result.ok ? null : result.error
  }

  #fold({ type, data }: Fact): void {
    if (type === 'capability.revoked') this.#revoked.add(data.id)
    else if (type === 'provider.disabled') this.#disabled.add(data.id)
    else if (type === 'provider.enabled') this.#disabled.delete(data.id)
  }
}
