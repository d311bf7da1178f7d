import type { Digest, Time } from '../../machines/vocabulary.ts'
import type { Owner } from './envelope.ts'
import type { LandfallError } from './errors.ts'
import type { Scope } from './scope.ts'

/** A piece of raw content, stored beside the step that introduced it and readable only in its scope. */
export interface Content {
  readonly digest: Digest
  readonly body: string
}

/** Where a piece of content is: the step that carries it, or 0 for content that many steps share (schemas, system text). */
export interface ContentRef {
  readonly digest: Digest
  readonly step: number
}

/** What a listing shows of a session; a projection kept with the head, so that listing reads no log. */
export interface SessionSummary {
  readonly state: 'open' | 'closing' | 'closed' | 'erased'
  readonly title?: string
  readonly active?: string
  readonly queued: number
  readonly quarantined: number
}

/** One commit of one session, made by the runtime, given to a driver. */
export interface StepAppend {
  readonly scope: Scope
  readonly step: number
  /** seq of the first fact; the driver refuses a hole. */
  readonly firstSeq: number
  readonly count: number
  readonly at: Time
  readonly prev: string
  readonly hash: string
  /** The packed facts; the codec's business alone. */
  readonly body: string
  /** ids strictly increase within a session (the runtime sees to it): this is how a driver knows a reused id. */
  readonly firstId: string
  readonly lastId: string
  readonly contents: readonly Content[]
  readonly shared: readonly Content[]
  /** Fence: this owner at this epoch must own the session. `null` only for the control stream. */
  readonly owner: Owner | null
  /** Fence: the control stream must still be at this version. */
  readonly control?: number
  readonly summary: SessionSummary
  /** The session has work that some owner must carry on after a crash. */
  readonly unfinished: boolean
  /** The session's digest key (hex), with the step that opens it. */
  readonly key?: string
  /** The last step of an erased session: content, key, inbox and snapshots go in the same transaction. */
  readonly erase?: true
  /** Inbox entries that this step carries out: answered and removed in the same transaction. */
  readonly answers?: readonly { readonly id: string; readonly answer: string }[]
}

/** `cursor` is that of the step's last fact; its facts have the `count` cursors that end there. */
export type AppendResult =
  | { readonly ok: true; readonly cursor: number; readonly duplicate: boolean }
  | { readonly ok: false; readonly error: LandfallError }

export interface StoredStep {
  readonly scope: Scope
  readonly step: number
  readonly firstSeq: number
  readonly count: number
  readonly cursor: number
  readonly prev: string
  readonly hash: string
  readonly body: string
}

export interface Head {
  readonly scope: Scope
  readonly seq: number
  readonly step: number
  readonly hash: string
  readonly lastId: string
  readonly updatedAt: Time
  readonly summary: SessionSummary
  readonly unfinished: boolean
  readonly owner: Owner | null
  /** hex; absent after erase. */
  readonly key?: string
}

export interface HeadFilter {
  readonly tenant?: string
  readonly user?: string
  readonly session?: string
  /** Only sessions with unfinished work and no living owner. */
  readonly orphaned?: true
  /** Page: heads after this one in (tenant, user, session) order. */
  readonly after?: Scope
  readonly limit: number
}

/** Who owns: one instance a runtime; host, pid and process start let one host see at once that an owner is gone. */
export interface Instance {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly startedAt: number
}

export type ClaimResult =
  | { readonly claimed: true; readonly epoch: number }
  | { readonly claimed: false; readonly owner: Owner }

/** A cache of folded state at a seq. Never an authority: it is checked against the chain and thrown away on any doubt. */
export interface Snapshot {
  readonly seq: number
  readonly hash: string
  readonly revision: number
  readonly body: string
}

export interface InboxEntry {
  readonly id: string
  readonly name: string
  readonly body: string
  readonly at: Time
}

/**
 * Storage of facts and content. Drivers promise, and the contract suite in `test/contract/` checks:
 * a step is all or nothing; many steps may share a transaction, each with its own fence and result; the fence is checked in
 * the same transaction and before the duplicate check; seq has no hole; cursors strictly increase over the store and no
 * reader passes one that may still appear; a redelivered step is one step; a reused id is `EVENT_CONFLICT`.
 */
export interface Log {
  readonly name: string
  /** Random, fixed when the store is created: part of every resume position. */
  epoch(): Promise<string>
  append(steps: readonly StepAppend[]): Promise<readonly AppendResult[]>
  /** Whole steps of one session in order, from the one that holds the first fact after `after` (a seq, or a cursor). */
  read(scope: Scope, range: { after?: number; afterCursor?: number; limit: number }): Promise<readonly StoredStep[]>
  content(scope: Scope, refs: readonly ContentRef[]): Promise<readonly (string | null)[]>
  head(scope: Scope): Promise<Head | null>
  heads(filter: HeadFilter): Promise<readonly Head[]>
  /** Steps of all sessions in commit order. */
  tail(afterCursor: number, limit: number): Promise<readonly StoredStep[]>
  lastCursor(): Promise<number>
  /** Facts up to this cursor are no longer kept. Absent: the store keeps everything. */
  retainedAfter?(): Promise<number>
  /** Calls back (soon, not at once) when steps may have been committed, by this or another process. */
  watch(listener: () => void): () => void
  controlVersion(): Promise<number>
  claim(scope: Scope, instance: Instance): Promise<ClaimResult>
  renew(instance: Instance): Promise<void>
  release(scope: Scope, owner: Owner): Promise<void>
  loadSnapshot(scope: Scope): Promise<Snapshot | null>
  /** Compare-and-swap: false when the stored revision is not `snapshot.revision - 1`. */
  saveSnapshot(scope: Scope, snapshot: Snapshot): Promise<boolean>
  /**
   * Puts an entry at the end. One that waits is the same entry; one that was answered waits again, and its old answer goes: its
   * owner tells a repeat by its own receipts. An erased session takes none, and keeps the answers that it gave.
   */
  putInbox(scope: Scope, entry: InboxEntry): Promise<void>
  inbox(scope: Scope, limit: number): Promise<readonly InboxEntry[]>
  inboxAnswer(scope: Scope, id: string): Promise<string | null>
  /**
   * Answers and removes an entry that led to no step, such as a refusal. Fenced like a step; false when the owner has changed.
   * An entry that waits no more is left as it was answered.
   */
  settleInbox(scope: Scope, owner: Owner, entry: { readonly id: string; readonly answer: string }): Promise<boolean>
  /** Sessions that have entries, of any owner. */
  pendingInbox(limit: number): Promise<readonly Scope[]>
  /** What a verifier compares with the rows: heads with their seq and hash, and how many there should be. */
  sessionCount(): Promise<number>
  close(): Promise<void>
}
