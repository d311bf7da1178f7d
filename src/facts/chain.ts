import { hash } from 'node:crypto'
import { canonicalText } from './canonical-text.ts'
import type { UnchainedFact } from './envelope.ts'
import { LandfallError } from './errors.ts'

/** `prev` of a session's first step. */
export const zeroHash = '0'.repeat(64)

/** The data of each fact as canonical text, for callers that need it for the body as well as for the hash. */
export function canonicalData(facts: readonly UnchainedFact[]): readonly string[] {
  return facts.map((fact) => canonicalText(fact.data))
}

/**
 * SHA-256 over the canonical JSON of `{"prev", "facts"}`. The text is built directly, envelope keys in sorted order, because a
 * generic serializer would sort the same sixteen keys for every fact.
 */
export function hashStep(prev: string, facts: readonly UnchainedFact[], data = canonicalData(facts)): string {
  return hash('sha256', chainText(prev, facts, data), 'hex')
}

/** The exact text that is hashed; exported so that its equality with RFC 8785 can be tested. */
export function chainText(prev: string, facts: readonly UnchainedFact[], data = canonicalData(facts)): string {
  let common = commonText(facts[0])
  const said = nothingSaid()
  let text = '{"facts":['
  for (let i = 0; i < facts.length; i += 1) {
    const fact = facts[i] as UnchainedFact
    if (fact.owner !== common.of.owner || fact.step !== common.of.step) common = commonText(fact)
    if (i > 0) text += ','
    text += factText(fact, data[i] as string, common, said)
  }
  return `${text}],"prev":${JSON.stringify(prev)}}`
}

/** The runs of sorted keys whose values all facts of a step share, as text. */
interface CommonText {
  readonly of: UnchainedFact
  readonly owner: string
  readonly session: string
  readonly tenant: string
  readonly user: string
}

function commonText(fact: UnchainedFact | undefined): CommonText {
  if (fact === undefined) throw new LandfallError('INTERNAL', 'A step has no facts. Report this as a bug.')
  return {
    of: fact,
    owner: `"owner":{"epoch":${whole(fact.owner.epoch)},"id":${quoted(fact.owner.id)}},"run":`,
    session: `,"session":${quoted(fact.session)},"step":${whole(fact.step)},"task":`,
    tenant: `,"tenant":${quoted(fact.tenant)},"type":`,
    user: `,"user":${quoted(fact.user)},"v":${whole(fact.v)}}`,
  }
}

/** Quoted text of the values that follow each other in a step's facts: most facts say what the one before said. */
interface Said {
  at: string
  atText: string
  by: UnchainedFact['by'] | null
  byText: string
  task: string | null
  taskText: string
  run: string | null
  runText: string
}

function nothingSaid(): Said {
  return { at: '', atText: '""', by: null, byText: '', task: null, taskText: 'null', run: null, runText: 'null' }
}

function say(said: Said, fact: UnchainedFact): void {
  if (fact.at !== said.at) {
    said.at = fact.at
    said.atText = quoted(fact.at)
  }
  if (fact.by !== said.by) {
    said.by = fact.by
    said.byText = `{"id":${quoted(fact.by.id)},"kind":${quoted(fact.by.kind)}}`
  }
  if (fact.task !== said.task) {
    said.task = fact.task
    said.taskText = nullable(fact.task)
  }
  if (fact.run !== said.run) {
    said.run = fact.run
    said.runText = nullable(fact.run)
  }
}

function factText(fact: UnchainedFact, data: string, common: CommonText, said: Said): string {
  say(said, fact)
  return (
    `{"at":${said.atText},"by":${said.byText},"call":${nullable(fact.call)}` +
    `,"cause":${nullable(fact.cause)},"command":${nullable(fact.command)},"data":${data},"id":${quoted(fact.id)}` +
    `,${common.owner}${said.runText},"seq":${whole(fact.seq)}${common.session}${said.taskText}` +
    `${common.tenant}${quoted(fact.type)}${common.user}`
  )
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

function nullable(text: string | null): string {
  return text === null ? 'null' : JSON.stringify(text)
}

function whole(value: number): string {
  if (!Number.isSafeInteger(value)) {
    throw new LandfallError('INTERNAL', 'A counter of a fact is not a whole number. Report this as a bug.')
  }
  return String(value)
}
