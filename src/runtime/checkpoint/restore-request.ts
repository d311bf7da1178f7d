import type { OperatorCommand } from '../../../machines/commands.ts'
import type { FactData } from '../../../machines/facts.ts'
import type { RestoredMessage } from '../../../machines/facts-of-context.ts'
import { limitOf } from '../../../machines/session-context.ts'
import { ranks } from '../../../machines/view.ts'
import type { SessionSettings } from '../../../machines/vocabulary.ts'
import { quoteOf, renderAnswer } from '../../context/conversation.ts'
import { canonicalJson } from '../../facts/digest.ts'
import { limits as defaults, isLimitName } from '../../facts/limits.ts'
import type { Scope } from '../../facts/scope.ts'
import type { OperatorRequest } from '../command.ts'
import { noteBody } from '../memory-note.ts'
import { notePut } from '../operator-requests.ts'
import type { Host } from '../options.ts'
import type { Step } from '../step.ts'
import type { Checkpoint, CheckpointEntry, CheckpointMessage } from './checkpoint-schema.ts'

type MessageData = FactData['message.added']
type Restore = Extract<OperatorCommand, { name: 'restore' }>

/** Messages that one step takes at most; the last step takes the notes too. */
const messagesAtOnce = 512
/** `session.opened`, `session.restored`, and one to spare. */
const besides = 3

/** One step of a restore: it goes on where the session stands, so that one that was cut off is finished by doing it again. */
export class RestoreRequest {
  readonly request: OperatorRequest
  readonly #host: Host
  readonly #checkpoint: Checkpoint
  #isLast = false

  constructor(host: Host, scope: Scope, checkpoint: Checkpoint) {
    this.#host = host
    this.#checkpoint = checkpoint
    this.request = {
      name: 'restore',
      by: { kind: 'operator', id: scope.user },
      commandId: null,
      body: null,
      opens: true,
      build: (step) => this.#build(step),
    }
  }

  /** The step that was built last is the one that ends it. */
  get isLast(): boolean {
    return this.#isLast
  }

  #build(step: Step): Restore {
    const { world } = step
    const from = step.digest(this.#checkpoint.digest)
    const command: Restore = { name: 'restore', from, opened: { settings: unopened }, messages: [], rest: null }
    if (world.session !== null && world.session.context.restoring !== from) return command
    const opened = world.session === null ? { opened: this.#opened(step, from) } : {}
    const { view } = this.#checkpoint.context
    const first = world.messageCount
    const entries = view.slice(first, first + this.#room(step))
    const messages = this.#messages(step, entries)
    this.#isLast = first + entries.length === view.length
    return { ...command, ...opened, messages, rest: this.#isLast ? this.#rest(step, from) : null }
  }

  #room(step: Step): number {
    const session = step.world.session?.context
    const { factsPerStep } = this.#host.limits
    const most = session === undefined ? factsPerStep : limitOf(session, 'factsPerStep', factsPerStep)
    return Math.max(1, Math.min(messagesAtOnce, most - this.#checkpoint.memory.length - besides))
  }

  #opened(step: Step, restores: string): FactData['session.opened'] {
    const { identity, system: text } = this.#checkpoint
    const system = text === null ? null : step.digest(text)
    if (text !== null && system !== null) {
      step.shared.set(system, { digest: system, body: text })
      step.base.bodies.systems.set(system, text)
    }
    const settings = settingsOf(this.#checkpoint, this.#host, system)
    return { ...(identity.title === null ? {} : { title: identity.title }), settings, restores }
  }

  #messages(step: Step, entries: readonly CheckpointEntry[]): readonly MessageData[] {
    const byId = new Map(this.#checkpoint.history.messages.map((message) => [message.id, message]))
    return entries.flatMap((entry) => {
      if ('summary' in entry) return [summaryData(step, entry.summary)]
      if ('note' in entry) return [noteData(step, entry.note)]
      const message = byId.get(entry.message)
      return message === undefined ? [] : [messageData(step, message, entry)]
    })
  }

  #rest(step: Step, from: string): NonNullable<Restore['rest']> {
    const { identity, history, accounting, control, context, memory } = this.#checkpoint
    const episodes = context.episodes.map(({ id, kind, basedOn, concludedBy }) => ({
      episode: id,
      kind,
      ...(basedOn.length === 0 ? {} : { basedOn }),
      ...(concludedBy === null ? {} : { concludedBy }),
    }))
    return {
      restored: {
        from,
        turns: identity.turns,
        revision: history.revision,
        usage: accounting.usage,
        quarantined: control.quarantine,
        ...(control.warnings.length === 0 ? {} : { warned: control.warnings }),
        ...(episodes.length === 0 ? {} : { episodes }),
      },
      notes: memory.map(({ key, value }) => ({
        ...notePut(step, key, noteBody(this.#host.limits, value)),
        scope: 'session' as const,
      })),
    }
  }
}

const unopened: SessionSettings = {
  model: '-',
  system: null,
  limits: {},
  budget: null,
  context: { windowTokens: 1, thresholdTokens: 0, tailMessages: 0, reserveTokens: 0 },
}

/** The session keeps its policy. Its budget and its bounds are never wider than those of the host that it comes to. */
function settingsOf({ model, settings, context }: Checkpoint, host: Host, system: string | null): SessionSettings {
  const limits: Record<string, number> = { ...settings.limits }
  for (const [name, bound] of Object.entries(host.lowered))
    if (isLimitName(name)) limits[name] = Math.min(limits[name] ?? defaults[name], bound)
  const tokens = Math.min(
    context.budget?.tokens ?? Number.POSITIVE_INFINITY,
    host.budget?.tokens ?? Number.POSITIVE_INFINITY,
  )
  const budget = Number.isFinite(tokens) ? { tokens } : null
  return { model, system, limits, budget, context: context.policy }
}

function messageData(
  step: Step,
  message: CheckpointMessage,
  entry: Extract<CheckpointEntry, { message: string }>,
): MessageData {
  const { id, role, content, toolCalls, forCall, synthetic } = message
  const body = toolCalls === undefined ? content : canonicalJson({ content, toolCalls })
  const put = step.put(body)
  const { bodies } = step.base
  const { rank, episode, observed } = entry
  const restored = {
    rank,
    ...(episode === undefined ? {} : { episode }),
    ...(observed === undefined ? {} : { observed }),
  }
  bodies.messages.set(
    id,
    toolCalls === undefined
      ? Object.freeze({ role, content, ...(forCall === undefined ? {} : { toolCallId: forCall }) })
      : renderAnswer(body),
  )
  if (role === 'user') bodies.quotes.set(put.digest, quoteOf(content))
  return {
    message: id,
    role,
    ...put,
    ...(toolCalls === undefined ? {} : { toolCalls: toolCalls.map((call) => ({ call: call.id, name: call.name })) }),
    ...(forCall === undefined ? {} : { forCall }),
    ...(synthetic === undefined ? {} : { synthetic }),
    restored,
  }
}

function summaryData(step: Step, { version, text }: { version: number; text: string }): MessageData {
  const put = step.put(text)
  step.base.bodies.summaries.set(put.digest, text)
  return standIn(step, put, { rank: ranks.text, summary: version })
}

function noteData(step: Step, { count, quotes }: { count: number; quotes: readonly string[] }): MessageData {
  const kept = quotes.map((quote) => {
    const { digest } = step.put(quote)
    step.base.bodies.quotes.set(digest, quoteOf(quote))
    return digest
  })
  const put = step.put(quotes.join('\n'))
  return standIn(step, put, { rank: ranks.user, note: { count, kept } })
}

function standIn(step: Step, put: { digest: string; bytes: number }, restored: RestoredMessage): MessageData {
  return { message: step.newId(), role: 'user', ...put, restored }
}
