import type { AgendaItem } from '../../machines/agenda.ts'
import type { CallId, TaskId } from '../../machines/vocabulary.ts'
import type { TaskRecord } from '../../machines/world.ts'
import type { Step } from './step.ts'
import type { TaskDesk } from './task-desk.ts'

/** One planner tool that was asked for, and where it is answered. */
export interface Asked {
  readonly step: Step
  readonly task: TaskId
  readonly call: CallId
  readonly record: TaskRecord
  readonly desk: TaskDesk
}

/** What it leads to, and what the model is told of it. */
export interface Performed {
  readonly facts: readonly AgendaItem[]
  readonly result: object
}

/** It has begun, and its message follows when what it waits for has come: a fact that holds the task says so. */
export interface Begun {
  readonly facts: readonly AgendaItem[]
  readonly waits: true
}

/** The words of a tool message; synthetic when the tool has nothing to say of its own. */
export interface Told {
  readonly text: string
  readonly synthetic?: true
}

/** A refusal that only the model is told of. */
export function failed(code: string, message: string, details: object = {}): Performed {
  return { facts: [], result: { error: { code, message, ...details } } }
}
