import type { Mailbox } from './mailbox.ts'

interface Passing {
  readonly type: 'model.delta' | 'call.progress'
  readonly field: string
  readonly task: string
  readonly call?: string
  /** The fact that it belongs to. */
  readonly cause: string | null
}

/** Deltas and progress are in no fact, so what was withheld of them is told in a step of its own. */
export function tellWithheld(session: Mailbox, { type, field, task, call, cause }: Passing): void {
  session.post({
    cause,
    by: { kind: 'runtime', id: 'redaction' },
    agenda: (_, world) => {
      // Nothing may stand behind the end of an erased session.
      if (world.session === null || world.session.matches({ lifecycle: 'erased' })) return []
      const about = world.tasks.has(task) ? { task, ...(call === undefined ? {} : { call }) } : {}
      return [{ type: 'audit.redaction_failed', ...about, data: { type, field } }]
    },
  })
}
