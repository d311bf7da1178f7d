import type { ContentAt } from '../../machines/content-at.ts'
import type { Effect, PauseReason, TaskId, Time } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import type { Log } from '../facts/log-port.ts'
import type { Redactor } from '../facts/ports.ts'
import type { Scope } from '../facts/scope.ts'

export interface PauseView {
  readonly token: string
  readonly reason: PauseReason
  readonly task: TaskId
  readonly call?: string
  /** What is to be decided: the call and its arguments, and the words of whoever asks. */
  readonly subject?: PauseSubject
  readonly deadline?: Time
  readonly seq: number
}

export interface PauseSubject {
  readonly name?: string
  readonly effect?: Effect | null
  readonly arguments?: unknown
  readonly text?: string
}

interface OpenPauseAt {
  readonly view: Omit<PauseView, 'subject'>
  readonly text: string | null
  readonly about: { readonly name: string; readonly effect: Effect | null; readonly arguments: ContentAt } | null
}

/** Open pauses, newest first. */
export function openPauses(world: World): readonly OpenPauseAt[] {
  const found: OpenPauseAt[] = []
  for (const [task, snapshot] of world.tasks)
    for (const [token, pause] of Object.entries(snapshot.context.pauses)) {
      const { reason, call, deadline, seq, subject } = pause
      const about = aboutOf(world, task, token)
      const view = { token, reason, task, seq, ...(call === null ? {} : { call }) }
      // A confirmation is about the call itself, and names its tool.
      const text = subject === about?.name ? null : subject
      found.push({ view: deadline === null ? view : { ...view, deadline }, text, about })
    }
  return found.sort((a, b) => b.view.seq - a.view.seq)
}

const asking = 'operator_ask'

/** The call that is held, or the planner tool that asks. */
function aboutOf(world: World, task: TaskId, token: string): OpenPauseAt['about'] {
  const wait = world.waits.get(task)
  if (wait?.kind === 'question' && wait.token === token) return { name: asking, effect: null, arguments: wait.asked }
  const call = world.tasks.get(task)?.context.pauses[token]?.call
  const record = call == null ? undefined : world.callRecords.get(call)
  if (record === undefined) return null
  return { name: record.name, effect: record.effect, arguments: record.arguments }
}

/** Arguments are content: they are read apart, and redacted before anybody sees them. */
export async function pausesOf(
  host: { readonly log: Log; readonly redactor: Redactor },
  scope: Scope,
  open: readonly OpenPauseAt[],
): Promise<readonly PauseView[]> {
  const places = open.flatMap((pause) => (pause.about === null ? [] : [pause.about.arguments]))
  const bodies = await host.log.content(
    scope,
    places.map(({ digest, step }) => ({ digest, step })),
  )
  const byDigest = new Map(places.map((place, index) => [place.digest, bodies[index] ?? null]))
  return open.map(({ view, text, about }) => {
    const words = text === null ? {} : { text }
    if (about === null) return text === null ? view : { ...view, subject: words }
    const body = byDigest.get(about.arguments.digest) ?? null
    const { name, effect } = about
    const args = body === null ? null : shown(host.redactor, body)
    return {
      ...view,
      subject: { name, effect, arguments: args, ...words, ...(name === asking ? questionOf(args) : {}) },
    }
  })
}

/** A fact holds the beginning of a long question; whoever is to answer it sees the whole. */
function questionOf(args: unknown): { readonly text?: string } {
  const { question } = (args ?? {}) as { readonly question?: unknown }
  return typeof question === 'string' ? { text: question } : {}
}

function shown(redactor: Redactor, body: string): unknown {
  try {
    return redactor.value(JSON.parse(body))
  } catch {
    return '[withheld]'
  }
}
