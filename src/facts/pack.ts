import type { Actor } from '../../machines/vocabulary.ts'
import type { UnchainedFact } from './envelope.ts'

/*
 * The body of a stored step is one JSON array, `[1, at, [owner, epoch], fact, fact, …]`, and a fact is
 * `[type, id, data]` or `[type, id, data, changes]`. What a fact shares with the fact before it is not written. `changes` has one
 * letter a field: a = at, t = task, r = run, c = call, b = by, k = cause, m = command. A string in it is written once a step;
 * later uses are its index among the strings seen so far, fact ids included. An id is written as the part by which it
 * differs from the id before it, or whole, inside an array, when their lengths differ. `data` is canonical JSON, so
 * that the text which was hashed is the text which is stored.
 */
export const bodyVersion = 1

/** Reference fields with their letters, in the order in which both sides visit them. */
export const referenceFields = [
  ['t', 'task'],
  ['r', 'run'],
  ['c', 'call'],
  ['k', 'cause'],
  ['m', 'command'],
] as const

/** Owns what the facts already packed have in common with the next one. Lives for one step. */
export class StepPacker {
  #at: string
  #id = ''
  #by: Actor | null = null
  readonly #last: Record<(typeof referenceFields)[number][1], string | null> = {
    task: null,
    run: null,
    call: null,
    cause: null,
    command: null,
  }
  readonly #seen = new Map<string, number>()
  #strings = 0
  readonly #actors: Actor[] = []

  constructor(first: UnchainedFact) {
    this.#at = first.at
  }

  fact(fact: UnchainedFact, data: string): string {
    const id = idText(this.#id, fact.id)
    this.#id = fact.id
    this.#remember(fact.id)
    const changes = this.#changes(fact)
    const head = `[${quoted(fact.type)},${id},${data}`
    return changes === '' ? `${head}]` : `${head},{${changes}}]`
  }

  #changes(fact: UnchainedFact): string {
    let text = ''
    if (fact.at !== this.#at) {
      this.#at = fact.at
      text += `,"a":${quoted(fact.at)}`
    }
    for (const [letter, field] of referenceFields) {
      const value = fact[field]
      if (value === this.#last[field]) continue
      this.#last[field] = value
      text += `,"${letter}":${value === null ? 'null' : this.#reference(value)}`
    }
    if (this.#by === null || fact.by.kind !== this.#by.kind || fact.by.id !== this.#by.id) {
      this.#by = fact.by
      text += `,"b":${this.#actor(fact.by)}`
    }
    return text.slice(1)
  }

  #reference(value: string): string {
    const index = this.#seen.get(value)
    if (index !== undefined) return String(index)
    this.#remember(value)
    return quoted(value)
  }

  #remember(value: string): void {
    if (!this.#seen.has(value)) this.#seen.set(value, this.#strings)
    this.#strings += 1
  }

  #actor(actor: Actor): string {
    const index = this.#actors.findIndex((known) => known.kind === actor.kind && known.id === actor.id)
    if (index >= 0) return String(index)
    this.#actors.push(actor)
    return `[${quoted(actor.kind)},${quoted(actor.id)}]`
  }
}

/** The end of an id that is new, when the ids have one length; ULIDs of a step differ in a few characters at the end. */
function idText(before: string, id: string): string {
  if (before.length !== id.length) return `[${quoted(id)}]`
  let same = 0
  while (same < id.length && before.charCodeAt(same) === id.charCodeAt(same)) same += 1
  return quoted(id.slice(same))
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
