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
  /** What is to be decided, for the pause of a call. */
  readonly subject?: { readonly name: string; readonly effect: Effect | null; readonly arguments: unknown }
  readonly deadline?: Time
  readonly seq: number
}

interface OpenPauseAt {
  readonly view: Omit<PauseView, 'subject'>
  readonly about: { readonly name: string; readonly effect: Effect | null; readonly arguments: ContentAt } | null
}

/** Open pauses, newest first. */
export function openPauses(world: World): readonly OpenPauseAt[] {
  const found: OpenPauseAt[] = []
  for (const [task, snapshot] of world.tasks)
    for (const [token, pause] of Object.entries(snapshot.context.pauses)) {
      const { reason, call, deadline, seq } = pause
      const record = call === null ? undefined : world.callRecords.get(call)
      const about =
        record === undefined ? null : { name: record.name, effect: record.effect, arguments: record.arguments }
      const view = { token, reason, task, seq, ...(call === null ? {} : { call }) }
      found.push({ view: deadline === null ? view : { ...view, deadline }, about })
    }
  return found.sort((a, b) => b.view.seq - a.view.seq)
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
  return open.map(({ view, about }) => {
    if (about === null) return view
    const body = byDigest.get(about.arguments.digest) ?? null
    const { name, effect } = about
    return { ...view, subject: { name, effect, arguments: body === null ? null : shown(host.redactor, body) } }
  })
}

function shown(redactor: Redactor, body: string): unknown {
  try {
    return redactor.value(JSON.parse(body))
  } catch {
    return '[withheld]'
  }
}
