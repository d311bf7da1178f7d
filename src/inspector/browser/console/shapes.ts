/** What the protocol answers with, as far as the console shows it. */
export interface SessionEntry {
  readonly session: string
  readonly state: 'open' | 'closing' | 'closed' | 'erased'
  readonly title?: string
  readonly active?: string
  readonly queued: number
  readonly quarantined: number
  readonly seq: number
  readonly updatedAt: string
}

/** A fact without what only a verifier reads. */
export interface Fact {
  readonly seq: number
  readonly type: string
  readonly at: string
  readonly task: string | null
  readonly call: string | null
  readonly by: { readonly kind: string; readonly id: string }
  readonly data: { readonly [name: string]: unknown }
}

export interface Task {
  readonly id: string
  readonly kind: 'foreground' | 'background'
  readonly origin: string
  readonly state: string
  readonly status?: string
  readonly requires: 'none' | 'success'
  readonly parent?: string
  readonly group?: string
  readonly seq: number
  /** Where its chart is, while it has one. */
  readonly value?: unknown
}

export interface SessionState {
  readonly seq: number
  readonly session: { readonly value?: unknown; readonly context?: unknown }
  readonly tasks: readonly Task[]
  readonly calls: readonly { readonly id: string; readonly value: unknown }[]
  readonly queue: readonly string[]
  readonly steering: readonly string[]
  readonly grants: { readonly [task: string]: { readonly [id: string]: { level: string; confirm: string } } }
  readonly context: { readonly messages: number }
  readonly budget: {
    readonly used: number
    readonly reserved: number
    readonly limit: number | null
  }
  readonly quarantined: readonly string[]
}

export interface Message {
  readonly id: string
  readonly seq: number
  readonly task: string
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[]
  readonly toolCallId?: string
  readonly synthetic?: true
}

export interface Pause {
  readonly token: string
  readonly reason: string
  readonly task: string
  readonly call?: string
  readonly subject?: {
    readonly name?: string
    readonly effect?: string | null
    readonly arguments?: unknown
    readonly text?: string
  }
  readonly deadline?: string
  readonly seq: number
}

export interface LedgerEntry {
  readonly seq: number
  readonly at: string
  readonly kind: string
  readonly task: string | null
  readonly call: string | null
  readonly by: { readonly kind: string; readonly id: string }
  readonly evidence?: string
  readonly [detail: string]: unknown
}

export interface Delta {
  readonly task: string | null
  /** seq of the request that it answers. */
  readonly after: number
  readonly index: number
  readonly kind: 'text' | 'reasoning'
  readonly text: string
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly next?: string | number
}
