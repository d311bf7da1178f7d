import { type Attributes, type Span, SpanKind } from '@opentelemetry/api'
import { terminalTypes } from '../../machines/facts.ts'
import type { StoredFact } from '../facts/envelope.ts'
import { scopeKey } from '../facts/scope.ts'
import { readTraceparent, spanIdOf, type TracePlace, traceIdOf } from '../facts/trace-context.ts'
import { createdAt } from './created-at.ts'
import { callAttributes, callEnd, requestAttributes, requestEnd, scopeAttributes, taskEnd } from './span-attributes.ts'
import type { SpanMaker } from './span-maker.ts'
import type { WorkInView } from './work-in-view.ts'

/** A stretch of a task, from its creation or from where it goes on, to its end or to where it rests. */
interface Stretch {
  readonly session: string
  readonly traceId: string
  readonly first: TracePlace
  readonly task: Span
  run: Span | null
  request: Span | null
  readonly calls: Map<string, Span>
}

/** Facts that say that a task is at work, whatever was seen of it before. */
const lively: ReadonlySet<string> = new Set([
  'task.created',
  'task.started',
  'task.resumed',
  'run.resumed',
  'model.requested',
  'call.started',
  ...terminalTypes,
])

/**
 * Owns: the open spans of the tasks of this process.
 * 1. A task has a trace of its own, or continues the one that its command came with; it is linked to the span of its session.
 * 2. Within a stretch: task, run, request or call, each the parent of the next. No span is open across a pause or a crash: the
 *    next stretch has no parent and is linked to the first one.
 * 3. Ids follow from the ids of facts and tasks, so that another process, or a tool, knows them without being told.
 */
export class TaskTraces {
  readonly #make: SpanMaker
  readonly #inbound: (fact: StoredFact, task: string) => string | undefined
  readonly #open = new Map<string, Stretch>()

  constructor(make: SpanMaker, inbound: (fact: StoredFact, task: string) => string | undefined) {
    this.#make = make
    this.#inbound = inbound
  }

  note(fact: StoredFact, view: WorkInView): void {
    if (fact.type === 'session.opened') this.#session(fact)
    if (fact.task === null) return
    const stretch = this.#stretchOf(fact, fact.task)
    if (stretch === undefined) return
    if (fact.type.startsWith('model.')) this.#request(fact, stretch)
    else if (fact.type.startsWith('call.')) this.#call(fact, stretch, view)
    else this.#task(fact, stretch)
  }

  /** Redacted content of a fact, where the host wants it in spans. */
  content(fact: StoredFact, attributes: Attributes): void {
    const stretch = this.#open.get(fact.task ?? '')
    if (stretch !== undefined) this.#make.event(stretch.run ?? stretch.task, 'landfall.message', attributes, fact)
  }

  /** Another process goes on with the session, or this one ends. */
  leave(session: string | null, at: number): void {
    for (const [task, stretch] of this.#open)
      if (session === null || stretch.session === session)
        this.#end(task, stretch, at, { 'landfall.stretch.end': 'left' })
  }

  #session(fact: StoredFact): void {
    const { traceId, spanId } = sessionPlace(fact)
    const from = Date.parse(fact.at)
    const span = this.#make.begin({ name: 'session', traceId, spanId, from, attributes: scopeAttributes(fact) })
    this.#make.end(span, fact, {})
  }

  #stretchOf(fact: StoredFact, task: string): Stretch | undefined {
    const open = this.#open.get(task)
    const goesOn = fact.type === 'task.resumed' || fact.type === 'run.resumed'
    if (open !== undefined && !goesOn) return open
    if (open !== undefined) this.#end(task, open, fact, { 'landfall.stretch.end': 'interrupted' })
    if (!lively.has(fact.type)) return undefined
    const inbound = readTraceparent(this.#inbound(fact, task))
    const first = { traceId: inbound?.traceId ?? traceIdOf(task), spanId: spanIdOf(task), flags: 1 }
    const isFirst = fact.type === 'task.created' || fact.type === 'task.started'
    const parent = fact.type === 'task.created' && fact.data.parent !== undefined ? fact.data.parent : null
    const span = this.#make.begin({
      name: 'task',
      traceId: first.traceId,
      spanId: isFirst ? first.spanId : spanIdOf(fact.id),
      from: fact.type === 'task.started' ? createdAt(task) : Date.parse(fact.at),
      parent: isFirst ? inbound : null,
      links: [
        sessionPlace(fact),
        ...(isFirst ? [] : [first]),
        ...(parent === null ? [] : [{ traceId: traceIdOf(parent), spanId: spanIdOf(parent), flags: 1 }]),
      ],
      attributes: { ...scopeAttributes(fact), 'landfall.task.id': task, ...createdAttributes(fact) },
    })
    const session = scopeKey(fact)
    const stretch: Stretch = {
      session,
      traceId: first.traceId,
      first,
      task: span,
      run: null,
      request: null,
      calls: new Map(),
    }
    this.#open.set(task, stretch)
    if (!isFirst) this.#run(fact, stretch)
    return stretch
  }

  #run(fact: StoredFact, stretch: Stretch): Span {
    stretch.run ??= this.#make.begin({
      name: 'invoke_agent landfall',
      traceId: stretch.traceId,
      spanId: spanIdOf(`run ${fact.id}`),
      from: Date.parse(fact.at),
      parent: stretch.task,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'landfall',
        'gen_ai.conversation.id': fact.session,
        ...(fact.run === null ? {} : { 'landfall.run.id': fact.run }),
        ...(fact.type === 'run.resumed'
          ? { 'landfall.run.attempt': fact.data.attempt, 'landfall.run.resumed': fact.data.reason }
          : {}),
      },
    })
    return stretch.run
  }

  #task(fact: StoredFact, stretch: Stretch): void {
    const task = fact.task ?? ''
    switch (fact.type) {
      case 'task.started':
        return void this.#run(fact, stretch)
      case 'task.paused':
        return this.#end(task, stretch, fact, {
          'landfall.stretch.end': 'paused',
          'landfall.pause.reasons': [...fact.data.reasons],
        })
      case 'task.completed':
      case 'task.failed':
      case 'task.cancelled':
      case 'task.superseded':
        return this.#end(task, stretch, fact, { ...taskEnd(fact), 'landfall.stretch.end': 'ended' })
      case 'steering.applied':
      case 'task.cancelling':
      case 'context.compacted':
      case 'pause.requested':
        return this.#make.event(stretch.run ?? stretch.task, fact.type, {}, fact)
    }
  }

  #request(fact: StoredFact, stretch: Stretch): void {
    if (fact.type === 'model.requested') {
      stretch.request = this.#make.begin({
        name: `chat ${fact.data.model}`,
        traceId: stretch.traceId,
        spanId: spanIdOf(fact.id),
        from: Date.parse(fact.at),
        parent: this.#run(fact, stretch),
        kind: SpanKind.CLIENT,
        attributes: requestAttributes(fact),
      })
    } else if (endsRequest(fact) && stretch.request !== null) {
      this.#make.end(stretch.request, fact, requestEnd(fact))
      stretch.request = null
    }
  }

  #call(fact: StoredFact, stretch: Stretch, view: WorkInView): void {
    const call = fact.call ?? ''
    if (fact.type === 'call.started') {
      const name = view.calls.get(call)?.name ?? 'unknown'
      const span = this.#make.begin({
        name: `execute_tool ${name}`,
        traceId: stretch.traceId,
        spanId: spanIdOf(fact.id),
        from: Date.parse(fact.at),
        parent: this.#run(fact, stretch),
        attributes: callAttributes(fact, name),
      })
      stretch.calls.set(call, span)
      return
    }
    const span = stretch.calls.get(call)
    const end = callEnd(fact)
    if (span !== undefined && end !== null) {
      this.#make.end(span, fact, end)
      stretch.calls.delete(call)
    } else if (span === undefined && (fact.type === 'call.held' || fact.type === 'call.refused'))
      this.#make.event(stretch.run ?? stretch.task, fact.type, { 'gen_ai.tool.call.id': call }, fact)
  }

  #end(task: string, stretch: Stretch, at: StoredFact | number, attributes: Attributes): void {
    const left = { 'landfall.stretch.end': 'left' }
    for (const span of stretch.calls.values()) this.#make.end(span, at, left)
    if (stretch.request !== null) this.#make.end(stretch.request, at, left)
    if (stretch.run !== null) this.#make.end(stretch.run, at, attributes)
    this.#make.end(stretch.task, at, attributes)
    this.#open.delete(task)
  }
}

function sessionPlace(fact: StoredFact): TracePlace {
  const key = scopeKey(fact)
  return { traceId: traceIdOf(key), spanId: spanIdOf(key), flags: 1 }
}

function createdAttributes(fact: StoredFact): Attributes {
  return fact.type === 'task.created'
    ? { 'landfall.task.kind': fact.data.kind, 'landfall.task.origin': fact.data.origin }
    : {}
}

function endsRequest({ type }: StoredFact): boolean {
  return type === 'model.completed' || type === 'model.failed' || type === 'model.abandoned'
}
