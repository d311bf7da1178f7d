import type { ToolDefinition } from '../../../src/capabilities/define-tool.ts'
import type { Model } from '../../../src/facts/ports.ts'
import type { defineTool, OutcomeUnknownError } from '../../../src/index.ts'
import type { Receipt } from '../../../src/runtime/command.ts'
import type { Session } from '../../../src/runtime/session.ts'

export interface Library {
  readonly defineTool: typeof defineTool
  readonly OutcomeUnknownError: typeof OutcomeUnknownError
}

export interface Effected {
  readonly name: string
  readonly call: string
  readonly attempt: number
}

export interface WildCommand {
  readonly name: string
  readonly args: readonly unknown[]
}

export type Sent =
  | { readonly receipt: Receipt; readonly code?: never }
  | { readonly code: string; readonly receipt?: never }

export function seeded(seed: number): () => number
export function wildModel(random: () => number, isCalm: () => boolean): Model
export function wildTools(
  lib: Library,
  random: () => number,
  effect: (effected: Effected) => void,
): readonly ToolDefinition[]
export function wildCommand(session: Session, random: () => number): Promise<WildCommand | null>
export function send(session: Session, command: WildCommand, commandId?: string): Promise<Sent>
export function settle(session: Session, deadlineMs?: number): Promise<void>
