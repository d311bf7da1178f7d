import { LandfallError } from '../facts/errors.ts'
import type { InboxEntry } from '../facts/log-port.ts'

/** An entry's id is its command's id: the same command may be put again, another one under its id may not. */
export function checkSameEntry(known: InboxEntry, entry: InboxEntry): void {
  if (known.name === entry.name && known.body === entry.body) return
  throw new LandfallError('COMMAND_CONFLICT', 'Another command was sent under this command id. Use a new id.', {
    details: { command: entry.id },
  })
}

export function erasedInbox(): LandfallError {
  return new LandfallError('SESSION_ERASED', 'The session was erased. Use another session id.')
}
