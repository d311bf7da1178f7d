import { type AgendaItem, type Intent, isAsk } from '../../../machines/agenda.ts'
import type { OperatorCommand } from '../../../machines/commands.ts'
import { type Decided, decide } from '../../../machines/decide.ts'
import type { Draft, Fact } from '../../../machines/facts.ts'
import { receiptResult } from '../../../machines/receipt-result.ts'
import { nameRefusal } from '../../../machines/refusals.ts'
import { nextToStart } from '../../../machines/session-context.ts'
import { LandfallError } from '../../facts/errors.ts'
import { dataProblem } from '../../facts/schemas.ts'
import { commandBodies, isCommandName } from '../../runtime/command-bodies.ts'
import type { CommandReceipt } from './command-receipt.ts'
import type { AskedAction } from './explain.ts'
import { sampleEnd, sampleTime } from './sample-fact.ts'
import type { SimulatedWorld } from './simulated-world.ts'

export interface CarriedOut {
  readonly receipt: CommandReceipt
  /** Drafted facts that the chart hears of which is tried out; of a refused command the one that was offered. */
  readonly facts: readonly Fact[]
  /** What all charts asked for, other facts among it. */
  readonly asked: readonly AskedAction[]
}

/** Decides a command as a runtime does, on the world around a chart, and folds what it drafts. */
export function carryOut(around: SimulatedWorld, given: unknown): CarriedOut {
  const command = commandOf(given)
  const decided = decidedOn(around, command)
  if (decided.kind === 'refused') return refused(around, command, [])
  if (decided.kind === 'noted') return { receipt: told(command, decided.result), facts: [], asked: [] }
  const facts: Fact[] = []
  const asked: (Intent | AgendaItem)[] = []
  const drafted: string[] = []
  for (const item of decided.agenda.flatMap(answered)) {
    const fact = around.next(item)
    const concerns = around.concerns(fact)
    const folded = around.fold(wellFormed(fact))
    if (folded.refusedBy !== null) return refused(around, command, concerns ? [fact] : [])
    drafted.push(fact.type)
    if (concerns) facts.push(fact)
    asked.push(...folded.intents, ...folded.agenda)
  }
  const starts = isStarted(around, asked, decided.target)
  const receipt = { ...told(command, receiptResult(command.name, starts)), drafted }
  return { receipt, facts, asked: asked.map(named) }
}

/** Code of the refusal that a command would meet now; null for none. The world stays as it is. */
export function refusalNow(around: SimulatedWorld, command: OperatorCommand): string | null {
  return carryOut(around.copy(), command).receipt.code
}

function commandOf(given: unknown): OperatorCommand {
  const { name } = (given ?? {}) as { readonly name?: unknown }
  if (typeof name !== 'string' || !(isCommandName(name) || name === 'restore'))
    throw invalid(`A command has a name, one of ${Object.keys(commandBodies).join(', ')}, restore.`)
  return given as OperatorCommand
}

/** The words of a command come from the reader, and the decision expects them to be whole. */
function decidedOn({ world }: SimulatedWorld, command: OperatorCommand): Decided {
  try {
    return decide(world, command)
  } catch {
    throw invalid(`The command ${command.name} lacks some of its words. Begin with the example.`)
  }
}

function wellFormed(fact: Fact): Fact {
  const problem = dataProblem(fact.type, withIds(fact.data))
  if (problem !== null) throw invalid(`The command would lead to a ${fact.type} that is not of its form (${problem}).`)
  return fact
}

/** Here a task is called `task-1`, so that it can be told from others; in a log it has an id. */
function withIds(data: unknown): unknown {
  const text = JSON.stringify(data).replace(/"(?:task|call|group|message|pause)-[\w-]+"/g, `"${'0'.repeat(26)}"`)
  return JSON.parse(text)
}

function invalid(message: string): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { field: 'command' } })
}

/** What the runtime answers where the first fact needs a time or counts. */
function answered(item: AgendaItem): readonly Draft[] {
  if (!isAsk(item)) return [item as Draft]
  if (item.ask === 'endTask') {
    const { task, status, reason } = item
    return [{ type: `task.${status}`, task, data: { ...sampleEnd, ...(reason === undefined ? {} : { reason }) } }]
  }
  if (item.ask !== 'cancelTask') return []
  const { task, status, reason, steering = 'inherit' } = item
  return [{ type: 'task.cancelling', task, data: { status, reason, graceUntil: sampleTime, steering } }]
}

function refused({ world }: SimulatedWorld, command: OperatorCommand, facts: readonly Fact[]): CarriedOut {
  const { code, message } = nameRefusal(world, command)
  return { receipt: { ...told(command, 'refused'), code, message }, facts, asked: [] }
}

function told({ name }: OperatorCommand, result: CommandReceipt['result']): CommandReceipt {
  return { command: name, result, code: null, message: null, drafted: [] }
}

/** A runtime answers the asking for a start in the same step; here it is asked for, and the reader plays it. */
function isStarted({ world }: SimulatedWorld, asked: readonly (Intent | AgendaItem)[], target: string | null): boolean {
  const session = world.session?.context
  if (target === null || session === undefined) return false
  return nextToStart(session) === target || asked.some((item) => isStart(item) && item.task === target)
}

function isStart(item: Intent | AgendaItem): item is Extract<AgendaItem, { readonly ask: 'startTask' }> {
  return 'ask' in item && item.ask === 'startTask'
}

function named(item: Intent | AgendaItem): AskedAction {
  if ('ask' in item) {
    const { ask, ...params } = item
    return { type: ask, params }
  }
  const { type, ...params } = item
  return { type, params }
}
