import type { Credentials } from './api.ts'
import { readerOfToken } from './reader-of-token.ts'

export type Action = 'start' | 'steer' | 'interrupt' | 'follow_up' | 'follow_up_success' | 'supersede'

/** What is typed into a box and not yet with the server. */
export interface Unsent {
  readonly text: string
  /** What it is to be; null: nobody has said. */
  readonly action: Action | null
  /** The turn under which it was begun; null: none was under way. */
  readonly task: string | null
  /** What is on its way: it comes back into the box if it is refused. */
  readonly sending: Written | null
}

export type Written = Pick<Unsent, 'text' | 'action' | 'task'>

/** By box, session and reader: what one typed is for nobody else, and for no other session. */
export type AllUnsent = { readonly [key: string]: Unsent }

/** The turn that is under way, as far as a message is concerned. */
export interface Turn {
  readonly id: string
  readonly state: string
}

export const nothing: Unsent = { text: '', action: null, task: null, sending: null }

/** A token that is renewed speaks of the same reader; of one that cannot be read only that it is one is known. */
export function unsentKey({ tenant, user, token }: Credentials, session: string, box: string): string {
  const reader = token === '' ? [tenant, user] : ['token', ...(readerOfToken(token) ?? [])]
  return JSON.stringify([reader, session, box])
}

export function offered(turn: Turn | undefined): readonly Action[] {
  if (turn === undefined) return ['start']
  const later = ['follow_up', 'follow_up_success'] as const
  return turn.state === 'cancelling' || turn.state === 'quiescing'
    ? later
    : ['steer', 'interrupt', ...later, 'supersede']
}

const isEmpty = ({ text }: { readonly text: string }) => text.trim() === ''

/** What would be sent; null: what was meant is not possible any more, and what else is meant only the reader can say. */
export function meant(unsent: Unsent, turn: Turn | undefined): Action | null {
  const { action, task } = unsent
  const choices = offered(turn)
  const isThere = action !== null && choices.includes(action)
  if (isEmpty(unsent)) return isThere ? action : (choices[0] ?? null)
  return isThere && task === (turn?.id ?? null) ? action : null
}

export function doubt({ action, task }: Unsent, turn: Turn | undefined): string {
  if (action === null)
    return 'The page was left while this was on its way. Look whether it arrived, or choose what it is.'
  if (task === null) return 'A turn has begun since this was written. Choose what it is for.'
  if (turn?.id === task) return 'The turn that this was written for is ending. Choose what it is for.'
  return `The turn that this was written for has ended${turn === undefined ? '' : ', and another is under way'}. Choose what it is for.`
}

/** A text is for the turn under which it was begun. */
export function typed(before: Unsent, text: string, turn: Turn | undefined): Unsent {
  if (!isEmpty(before)) return { ...before, text }
  return { ...before, text, action: meant({ ...before, text: '' }, turn), task: turn?.id ?? null }
}

export function chosen(before: Unsent, action: Action, turn: Turn | undefined): Unsent {
  return { ...before, action, task: turn?.id ?? null }
}

/** The box is free for the next words at once. */
export function leaving(before: Unsent): Unsent {
  const { text, action, task } = before
  return { ...before, text: '', sending: { text, action, task } }
}

/** What was refused stands before what was typed meanwhile. */
export function arrived(before: Unsent, isTaken: boolean): Unsent {
  const { sending, text } = before
  if (sending === null || isTaken) return { ...before, sending: null }
  return { ...sending, text: text === '' ? sending.text : `${sending.text}\n${text}`, sending: null }
}

/** The page was left: whether what was on its way arrived is not known, so it is neither thrown away nor sent by itself. */
export function afterReload(all: AllUnsent): AllUnsent {
  return Object.fromEntries(
    Object.entries(all).map(([key, unsent]) =>
      unsent.sending === null ? [key, unsent] : [key, { ...arrived(unsent, false), action: null }],
    ),
  )
}

export function withUnsent(all: AllUnsent, key: string, unsent: Unsent): AllUnsent {
  if (unsent.text !== '' || unsent.sending !== null || unsent.action !== null) return { ...all, [key]: unsent }
  const { [key]: _, ...others } = all
  return others
}

/** Content that was erased is not kept in a box either. */
export function withoutSession(all: AllUnsent, credentials: Credentials, session: string | null): AllUnsent {
  const start = unsentKey(credentials, session ?? '', '').slice(0, -'""]'.length)
  return Object.fromEntries(Object.entries(all).filter(([key]) => !key.startsWith(start)))
}
