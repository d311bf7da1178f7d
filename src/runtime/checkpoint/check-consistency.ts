import { openCallsAfter } from '../../context/conversation.ts'
import { LandfallError } from '../../facts/errors.ts'
import { checkId } from '../../facts/ids.ts'
import { type Limits, resolveLimits } from '../../facts/limits.ts'
import { checkedKey, noteBody } from '../memory-note.ts'
import type { Checkpoint } from './checkpoint-schema.ts'

type Bounds = Pick<Limits, 'memoryItems' | 'memoryKeyChars' | 'memoryValueBytes'>

/** What contradicts itself in a document whose form is right, or null. The digest says that it is whole, not that it is true. */
export function inconsistency(checkpoint: Checkpoint, bounds: Bounds): string | null {
  return (
    ofIdentity(checkpoint) ??
    ofSettings(checkpoint) ??
    ofConversation(checkpoint) ??
    ofControl(checkpoint) ??
    ofMemory(checkpoint, bounds)
  )
}

const restPhases: ReadonlySet<string> = new Set(['new', 'finished', 'queued'])

function ofIdentity({ identity, next, control }: Checkpoint): string | null {
  for (const field of ['tenant', 'user', 'session'] as const)
    if (refuses(() => checkId(field, identity[field]))) return `the ${field}`
  const rests = restPhases.has(identity.phase)
  if ((identity.task === null) !== (identity.run === null) || (!rests && identity.task === null))
    return 'the phase is not that of the task'
  if (identity.phase === 'new' && identity.turns > 0) return 'a session with turns is not new'
  if (identity.phase === 'finished' && identity.turns === 0) return 'a session without turns has finished none'
  if ((identity.phase === 'queued') !== (rests && control.queue.length > 0)) return 'the phase is not that of the queue'
  const asks = identity.phase === 'model' || identity.phase === 'summary'
  if ('request' in next !== asks) return 'the next step is not that of the phase'
  const ended = 'terminal' in next ? next.terminal.task : null
  return ended !== null && (!rests || ended !== identity.task) ? 'the terminal status is not that of the task' : null
}

function ofSettings({ settings, context, accounting }: Checkpoint): string | null {
  if (refuses(() => resolveLimits(settings.limits))) return 'the limits'
  const { policy } = context
  if (policy.reserveTokens < 1) return 'the output reserve has no room for an answer'
  if (policy.reserveTokens >= policy.windowTokens) return 'the output reserve leaves no room in the window'
  if (accounting.used !== accounting.usage.total) return 'the usage is not what was used'
  return null
}

/** The view shows each message once, in order; each call has one result, before anything else is said. */
function ofConversation({ history, context, identity }: Checkpoint): string | null {
  const shown = context.view.flatMap((entry) => ('message' in entry ? [entry.message] : []))
  const known = history.messages.map(({ id }) => id)
  if (new Set(known).size !== known.length) return 'a message is there twice'
  if (shown.length !== known.length || shown.some((id, at) => id !== known[at]))
    return 'the view does not show the messages of the history'
  const notes = context.view.findIndex((entry, at) => at > 0 && 'note' in entry)
  if (notes > 0) return 'a rolling note is not at the beginning'
  let open: readonly string[] | null = []
  for (const { role, content, toolCalls, forCall } of history.messages) {
    if ((forCall !== undefined) !== (role === 'tool') || (toolCalls !== undefined && role !== 'assistant'))
      return 'a message has calls that are not of its role'
    const message = {
      role,
      content,
      ...(toolCalls === undefined ? {} : { toolCalls }),
      ...(forCall === undefined ? {} : { toolCallId: forCall }),
    }
    open = openCallsAfter(open, message)
    if (open === null) return 'a call and its result are parted'
  }
  const rests = restPhases.has(identity.phase)
  if (rests && open.length > 0) return 'a call has no result'
  return ofEntries({ history, context })
}

function ofEntries({ history, context }: Pick<Checkpoint, 'history' | 'context'>): string | null {
  const roles = new Map(history.messages.map(({ id, role }) => [id, role]))
  for (const entry of context.view)
    if ('message' in entry && entry.observed === true && roles.get(entry.message) !== 'tool')
      return 'what is no output is an observation'
  const episodes = new Set(context.episodes.map(({ id }) => id))
  if (episodes.size !== context.episodes.length) return 'an episode is there twice'
  return null
}

function ofControl({ control, history, identity }: Checkpoint): string | null {
  const named = new Set(control.quarantine)
  if (named.size !== control.quarantine.length) return 'a call is quarantined twice'
  for (const { toolCalls = [], forCall } of history.messages) {
    for (const { id } of toolCalls) named.add(id)
    if (forCall !== undefined) named.add(forCall)
  }
  const seen = new Set(control.seenCalls)
  if (seen.size !== control.seenCalls.length || [...named].some((id) => !seen.has(id)))
    return 'the calls that were seen are not those of the conversation'
  const rests = restPhases.has(identity.phase)
  if (rests && Object.keys(control.grants).length > 0) return 'grants without a task'
  if (control.warnings.some((percent) => percent > 100)) return 'a warning beyond the budget'
  return null
}

function ofMemory({ memory }: Checkpoint, bounds: Bounds): string | null {
  if (memory.length > bounds.memoryItems) return 'there are more notes than there may be'
  if (new Set(memory.map(({ key }) => key)).size !== memory.length) return 'a note is there twice'
  const odd = memory.some(({ key, value }) => refuses(() => [checkedKey(bounds, key), noteBody(bounds, value)]))
  return odd ? 'a note is beyond its bounds' : null
}

function refuses(check: () => unknown): boolean {
  try {
    check()
    return false
  } catch (error) {
    if (error instanceof LandfallError) return true
    throw error
  }
}
