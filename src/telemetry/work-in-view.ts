import type { Fact } from '../../machines/facts.ts'

export interface RequestInView {
  readonly model: string
  readonly purpose: string
  readonly beganAt: number
}

export interface CallInView {
  readonly task: string
  readonly name: string
  /** The catalog has a tool of this name; what a model invents is none, and no label. */
  readonly known: boolean
  readonly beganAt: number | null
}

/**
 * Owns: what facts that come later say only by an id: models of requests and names of calls that are under way.
 * 1. It holds what is not over; the end of a task takes with it what is left of it.
 */
export class WorkInView {
  readonly requests = new Map<string, RequestInView>()
  readonly calls = new Map<string, CallInView>()

  /** Before anybody looks at the fact. */
  begin(fact: Fact): void {
    const at = Date.parse(fact.at)
    const { task, call } = fact
    if (fact.type === 'model.requested' && task !== null)
      this.requests.set(task, { model: fact.data.model, purpose: fact.data.purpose, beganAt: at })
    if (fact.type === 'call.requested' && task !== null && call !== null)
      this.calls.set(call, { task, name: fact.data.name, known: fact.data.effect !== undefined, beganAt: null })
    const known = call === null ? undefined : this.calls.get(call)
    if (fact.type === 'call.started' && call !== null && known !== undefined)
      this.calls.set(call, { ...known, beganAt: at })
  }

  /** After everybody has looked at it. */
  end(fact: Fact): void {
    const { type, task, call } = fact
    if (task !== null && /^model\.(completed|failed|abandoned)$/.test(type)) this.requests.delete(task)
    if (call !== null && /^call\.(finished|refused|cancelled|unknown)$/.test(type)) this.calls.delete(call)
    if (task === null || !/^task\.(completed|failed|cancelled|superseded)$/.test(type)) return
    this.requests.delete(task)
    for (const [id, entry] of this.calls) if (entry.task === task) this.calls.delete(id)
  }
}
