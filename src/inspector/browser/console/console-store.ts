import { createStore } from '@xstate/store'
import type { Credentials } from './api.ts'
import { afterFacts, type Drafts, withDelta, withoutEnded } from './drafts.ts'
import type { Delta, Fact, Message, Pause, SessionEntry, SessionState } from './shapes.ts'
import { type AllUnsent, arrived as answered, nothing, type Unsent, withoutSession, withUnsent } from './unsent.ts'

export type Theme = 'auto' | 'light' | 'dark'
export type View = (typeof views)[number]
export type Link = 'idle' | 'connecting' | 'live' | 'lost' | 'refused'

export const views = ['charts', 'facts', 'work', 'moment', 'records'] as const

/** Where the reader is. */
export interface Place {
  readonly session: string | null
  readonly at?: number | null
  readonly view?: View | undefined
}

export interface Notice {
  readonly isProblem: boolean
  readonly text: string
}

export interface ConsoleState {
  readonly credentials: Credentials
  readonly theme: Theme
  /** null: nobody knows, because they were not read yet or may not be read. */
  readonly sessions: readonly SessionEntry[] | null
  /** Why the list could not be read the last time; empty when it was. */
  readonly listProblem: string
  readonly session: string | null
  readonly link: Link
  /** What the server said when it refused the session. */
  readonly refusal: string
  /** Without a hole: the fact at index i has seq i + 1. */
  readonly facts: readonly Fact[]
  readonly messages: readonly Message[]
  readonly drafts: Drafts
  /** What a call says while it runs. */
  readonly progress: { readonly [call: string]: string }
  readonly live: SessionState | null
  readonly isErased: boolean
  readonly pauses: readonly Pause[]
  /** The moment that is looked at; null: now. */
  readonly at: number | null
  /** A moment to look at as soon as its facts are here, after a reload or a new beginning of the stream. */
  readonly wanted: number | null
  /** The state at a moment that was looked at; while another one is on its way it is of another seq. */
  readonly past: SessionState | null
  /** Which view of the session is shown beside its conversation. */
  readonly view: View
  readonly notice: Notice | null
  /** What is typed and not sent; it outlives sessions, streams and identities. */
  readonly unsent: AllUnsent
}

const ofSession = {
  link: 'idle' as Link,
  refusal: '',
  facts: [] as readonly Fact[],
  messages: [] as readonly Message[],
  drafts: [] as Drafts,
  progress: {} as { readonly [call: string]: string },
  live: null as SessionState | null,
  isErased: false,
  pauses: [] as readonly Pause[],
  at: null as number | null,
  wanted: null as number | null,
  past: null as SessionState | null,
}

const ofList = {
  sessions: (state: ConsoleState, { sessions }: { sessions: readonly SessionEntry[] }) => ({
    ...state,
    sessions,
    listProblem: '',
  }),
  /** What was listed before stays only for a reader who is not refused. */
  unlisted: (state: ConsoleState, { problem, isRefused }: { problem: string; isRefused: boolean }) => ({
    ...state,
    sessions: isRefused ? null : state.sessions,
    listProblem: problem,
  }),
}

const ofBoxes = {
  write: (state: ConsoleState, { key, unsent: next }: { key: string; unsent: Unsent }) => ({
    ...state,
    unsent: withUnsent(state.unsent, key, next),
  }),
  sent: (state: ConsoleState, { key, isTaken }: { key: string; isTaken: boolean }) => ({
    ...state,
    unsent: withUnsent(state.unsent, key, answered(state.unsent[key] ?? nothing, isTaken)),
  }),
}

/** Everything that the page shows, and how it changes. Who fetches what is no part of it. */
export function createConsoleStore(credentials: Credentials, theme: Theme, unsent: AllUnsent) {
  const context: ConsoleState = {
    credentials,
    theme,
    sessions: null,
    listProblem: '',
    session: null,
    view: 'charts',
    notice: null,
    unsent,
    ...ofSession,
  }
  return createStore({
    context,
    on: {
      theme: (state, { theme: next }: { theme: Theme }) => ({ ...state, theme: next }),
      identify: (state, { credentials: next }: { credentials: Credentials }) => ({
        ...state,
        ...ofSession,
        credentials: next,
        sessions: null,
        listProblem: '',
        session: null,
      }),
      ...ofList,
      choose: (state, place: Place) => ({ ...state, ...ofSession, ...chosen(state, place) }),
      view: (state, { view }: { view: View }) => ({ ...state, view }),
      /** The stream begins anew: what was known of another store is none of this one. */
      restart: (state) => ({ ...state, ...ofSession, wanted: state.at ?? state.wanted }),
      link: (state, { link }: { link: Link }) => (state.link === link ? state : { ...state, link, refusal: '' }),
      refused: (state, { problem }: { problem: string }) => ({ ...state, link: 'refused' as Link, refusal: problem }),
      facts: (state, { facts }: { facts: readonly Fact[] }) => ({ ...state, ...withFacts(state, facts) }),
      deltas: (state, { deltas }: { deltas: readonly Delta[] }) => ({
        ...state,
        drafts: deltas.reduce(withDelta, state.drafts),
      }),
      progress: (state, { call, note }: { call: string; note: string }) => ({
        ...state,
        progress: { ...state.progress, [call]: note },
      }),
      messages: (state, { messages, through }: { messages: readonly Message[]; through: number }) => ({
        ...state,
        messages: messages.length === 0 ? state.messages : [...state.messages, ...messages],
        drafts: withoutEnded(state.drafts, through),
      }),
      live: (state, { live }: { live: SessionState }) => ({
        ...state,
        live,
        // The session is shorter than that moment: nobody is taken there when it has come.
        wanted: state.wanted !== null && state.wanted > live.seq ? null : state.wanted,
      }),
      pauses: (state, { pauses }: { pauses: readonly Pause[] }) => ({ ...state, pauses }),
      look: (state, { at }: { at: number | null }) => ({
        ...state,
        wanted: null,
        // Until the state of that moment is here, the newest one is of another seq, too.
        past: state.past ?? state.live,
        at: at === null ? null : Math.min(Math.max(at, 1), Math.max(state.facts.length, 1)),
      }),
      past: (state, { past }: { past: SessionState }) => ({ ...state, past }),
      ...ofBoxes,
      say: (state, { notice }: { notice: Notice | null }) => ({ ...state, notice }),
    },
  })
}

export type ConsoleStore = ReturnType<typeof createConsoleStore>

function chosen({ view: before }: ConsoleState, { session, at = null, view = before }: Place) {
  return { session, wanted: at, view, notice: null }
}

function withFacts(state: ConsoleState, facts: readonly Fact[]) {
  const isErased = facts.some(({ type }) => type === 'session.erased')
  return {
    facts: [...state.facts, ...facts],
    ...arrived(state, state.facts.length + facts.length),
    // Content that was removed is not kept on a screen either.
    isErased: state.isErased || isErased,
    messages: isErased ? [] : state.messages,
    drafts: afterFacts(state.drafts, facts),
    unsent: isErased ? withoutSession(state.unsent, state.credentials, state.session) : state.unsent,
  }
}

function arrived({ at, wanted }: ConsoleState, last: number): Pick<ConsoleState, 'at' | 'wanted'> {
  return wanted !== null && wanted <= last ? { at: wanted, wanted: null } : { at, wanted }
}

/** seq of the moment that is shown. */
export function shownSeq({ at, facts }: ConsoleState): number {
  return at ?? facts.length
}

/** The state of the moment that is shown, as far as it is here. */
export function shownState({ at, past, live }: ConsoleState): SessionState | null {
  return at === null ? live : past
}

/** Whether that state is known: a session that has no fact has none. */
export function isKnown(state: ConsoleState): boolean {
  return shownState(state) !== null || (state.link === 'live' && state.facts.length === 0)
}
