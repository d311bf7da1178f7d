import { LandfallError } from '../facts/errors.ts'
import type { Session } from '../runtime/session.ts'

const factsAtOnce = 1_000

interface Wanted {
  readonly task: string
  readonly token: string | undefined
  readonly commandId: string | undefined
}

/**
 * The token of the pause that a `resume` means. One that is given is of the task in the path or of none that is open; a settled one
 * is the session's to tell. Without one a repeated command means what it meant at first, even when another pause is open by now.
 */
export async function tokenOf(session: Session, { task, token, commandId }: Wanted): Promise<string> {
  const open = await session.pauses()
  if (token !== undefined) {
    const other = open.some((pause) => pause.token === token && pause.task !== task)
    if (other) throw noPause('No open pause of this task has this token. List the open ones.')
    return token
  }
  const before = commandId === undefined ? null : await settledBy(session, task, commandId)
  if (before !== null) return before
  const [only, another] = open.filter((pause) => pause.task === task)
  if (only === undefined) throw noPause('This task has no open pause.')
  if (another !== undefined)
    throw new LandfallError('INVALID_INPUT', 'Several pauses of this task are open. Name the token of one.', {
      details: { field: 'body.token' },
    })
  return only.token
}

/** The pause of the task that a command with this id has settled. */
async function settledBy(session: Session, task: string, commandId: string): Promise<string | null> {
  for (let after = 0; ; ) {
    const facts = await session.log({ after, limit: factsAtOnce })
    for (const fact of facts)
      if (fact.type === 'pause.settled' && fact.command === commandId && fact.task === task) return fact.data.token
    const last = facts.at(-1)
    if (last === undefined) return null
    after = last.seq
  }
}

function noPause(message: string): LandfallError {
  return new LandfallError('PAUSE_NOT_FOUND', message)
}
