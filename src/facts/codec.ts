import { canonicalData, hashStep } from './chain.ts'
import type { StoredFact, UnchainedFact } from './envelope.ts'
import { LandfallError } from './errors.ts'
import { limits } from './limits.ts'
import type { StoredStep } from './log-port.ts'
import { bodyVersion, StepPacker } from './pack.ts'
import { factProblem } from './schemas.ts'
import { corrupt, StepUnpacker } from './unpack.ts'
import { upcasters as knownUpcasters, type Upcasters, upcast } from './upcast.ts'

export interface SealedStep {
  readonly hash: string
  readonly body: string
}

/** Hash and body of a step from one serialization of its data. */
export function sealStep(prev: string, facts: readonly UnchainedFact[]): SealedStep {
  const data = canonicalData(facts)
  return { hash: hashStep(prev, facts, data), body: packStep(facts, data) }
}

/** The body of a step, in the form that `pack.ts` describes. */
export function packStep(facts: readonly UnchainedFact[], data = canonicalData(facts)): string {
  const first = facts[0]
  if (first === undefined)
    throw new LandfallError('INTERNAL', 'A step without facts cannot be stored. Report this as a bug.')
  const packer = new StepPacker(first)
  let text = `[${bodyVersion},${JSON.stringify(first.at)},[${JSON.stringify(first.owner.id)},${first.owner.epoch}]`
  for (let i = 0; i < facts.length; i += 1) {
    const fact = facts[i] as UnchainedFact
    assertSameStep(first, fact, i)
    text += `,${packer.fact(fact, boundedData(fact, data[i] as string))}`
  }
  return `${text}]`
}

export interface UnpackOptions {
  /** false: trust the store. For replay of steps whose chain is checked anyway; malformed bodies are still refused. */
  readonly validate?: boolean
  readonly upcasters?: Upcasters
}

/** The facts of a stored step, in the key order that `landfall log` prints, brought to the present version of their types. */
export function unpackStep(stored: StoredStep, options: UnpackOptions = {}): StoredFact[] {
  const facts = new StepUnpacker(stored).facts()
  const chain = options.upcasters ?? knownUpcasters
  const current = chain.size === 0 ? facts : facts.map((fact) => ({ ...fact, ...upcast(fact, chain) }) as StoredFact)
  if (options.validate !== false) {
    for (const fact of current) {
      const problem = factProblem(fact)
      if (problem !== null) throw corrupt(stored, problem, fact.seq)
    }
  }
  return current
}

/** True when the stored hash is that of the stored facts. Facts are hashed as written, so no upcaster takes part. */
export function isStepIntact(stored: StoredStep): boolean {
  return hashStep(stored.prev, new StepUnpacker(stored).facts()) === stored.hash
}

function assertSameStep(first: UnchainedFact, fact: UnchainedFact, index: number): void {
  const sound =
    fact.seq === first.seq + index &&
    fact.step === first.step &&
    fact.session === first.session &&
    fact.user === first.user &&
    fact.tenant === first.tenant &&
    fact.owner.id === first.owner.id &&
    fact.owner.epoch === first.owner.epoch
  if (!sound) {
    throw new LandfallError(
      'INTERNAL',
      'Facts of one step differ in scope, step, owner or order. Report this as a bug.',
    )
  }
}

function boundedData(fact: UnchainedFact, data: string): string {
  if (data.length * 3 > limits.factBytes && Buffer.byteLength(data) > limits.factBytes) {
    throw new LandfallError(
      'LIMIT_EXCEEDED',
      'A fact is larger than the bound. Shorten what the command names or lists.',
      {
        details: { which: 'factBytes', bound: limits.factBytes, got: Buffer.byteLength(data), type: fact.type },
      },
    )
  }
  return data
}
