import type { StoredFact } from '../../../src/facts/envelope.ts'

/** Names for ids in the order in which the log brings them: T1 for the first task, C1 for the first call, S1 for steering. */
export class Labels {
  readonly #names = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  constructor(facts: readonly StoredFact[]) {
    for (const fact of facts) {
      if (fact.type === 'task.created') this.#add('T', fact.task)
      if (fact.type === 'call.requested') this.#add('C', fact.call)
      if (fact.type === 'steering.queued') this.#add('S', fact.data.message)
    }
  }

  of(id: string | null | undefined): string {
    return id == null ? '' : (this.#names.get(id) ?? id)
  }

  all(ids: readonly string[]): string {
    return ids.map((id) => this.of(id)).join(' ')
  }

  #add(letter: string, id: string | null): void {
    if (id === null || this.#names.has(id)) return
    const count = (this.#counts.get(letter) ?? 0) + 1
    this.#counts.set(letter, count)
    this.#names.set(id, `${letter}${count}`)
  }
}

/** Each step of the log as one line: types and subjects, with the few fields that tell one course of events from another. */
export function steps(facts: readonly StoredFact[]): string[] {
  const labels = new Labels(facts)
  const lines: string[][] = []
  for (const fact of facts) {
    const line = lines[fact.step - 1] ?? []
    lines[fact.step - 1] = line
    line.push(factText(fact, labels))
  }
  return lines.map((line) => line.join(' · '))
}

function factText(fact: StoredFact, labels: Labels): string {
  const subject = fact.type.startsWith('mutation.') ? '' : labels.of(fact.call ?? fact.task)
  const detail = detailOf(fact, labels)
  return [fact.type, subject, detail === '' ? '' : `{${detail}}`].filter((part) => part !== '').join(' ')
}

function detailOf(fact: StoredFact, labels: Labels): string {
  switch (fact.type) {
    case 'session.closing':
      return fact.data.then
    case 'command.accepted':
      return `${fact.data.name} ${fact.data.result}`
    case 'task.created':
      return fact.data.origin
    case 'task.blocked':
      return `${labels.of(fact.data.predecessor)} ${fact.data.status}`
    case 'task.cancelling':
      return fact.data.replacement === undefined
        ? fact.data.status
        : `${fact.data.status}, replacement ${labels.of(fact.data.replacement)}`
    case 'message.added':
      return [fact.data.role, fact.data.synthetic ? 'synthetic' : '', labels.of(fact.data.forCall)]
        .filter((part) => part !== '')
        .join(' ')
    case 'steering.queued':
      return `${labels.of(fact.data.message)} ${fact.data.mode}`
    case 'task.failed':
      return fact.data.code ?? ''
    case 'task.quiescing':
    case 'mutation.quarantined':
    case 'mutation.acknowledged':
      return labels.all(fact.data.calls)
    case 'steering.applied':
    case 'steering.inherited':
    case 'steering.expired':
      return labels.all(fact.data.messages)
    default:
      return plainDetail(fact)
  }
}

function plainDetail(fact: StoredFact): string {
  switch (fact.type) {
    case 'run.resumed':
    case 'call.aborting':
    case 'call.held':
    case 'call.unknown':
    case 'model.abandoned':
    case 'pause.requested':
      return fact.data.reason
    case 'pause.settled':
      return fact.data.decision
    case 'call.cancelled':
      return fact.data.when
    case 'call.refused':
    case 'model.failed':
      return fact.data.code
    case 'call.started':
      return fact.data.attempt === 1 ? '' : `attempt ${fact.data.attempt}`
    case 'call.finished':
      return fact.data.outcome === 'failed' ? `failed ${fact.data.code}` : ''
    case 'call.verified':
      return fact.data.outcome
    case 'budget.warning':
      return `${fact.data.percent}`
    case 'budget.exceeded':
      return fact.data.what
    default:
      return ''
  }
}
