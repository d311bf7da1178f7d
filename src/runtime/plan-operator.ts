import type { AgendaItem } from '../../machines/agenda.ts'
import type { OperatorCommand } from '../../machines/commands.ts'
import { type Decided, decide } from '../../machines/decide.ts'
import type { FactOf } from '../../machines/facts.ts'
import { receiptResult } from '../../machines/receipt-result.ts'
import { nameRefusal } from '../../machines/refusals.ts'
import type { ReceiptRecord } from '../../machines/world.ts'
import { LandfallError } from '../facts/errors.ts'
import type { OperatorRequest, Receipt } from './command.ts'
import { comparable } from './command-bodies.ts'
import { RefusedStep, type Step } from './step.ts'

export interface Planned {
  readonly step: Step
  readonly receipt: Receipt
}

/** Plans the step of an operator's command, or throws what names its refusal. Nothing is remembered of a refusal. */
export function planOperator(step: Step, request: OperatorRequest): Planned {
  const before = request.commandId === null ? undefined : step.world.receipts.get(request.commandId)
  if (before !== undefined) return { step, receipt: repeated(step, request, before) }
  if (step.world.session === null && !request.opens)
    throw refusal('NOT_FOUND', 'This session was never opened. Start a turn in it first.', {})
  const command = request.build(step)
  const decided = decide(step.world, command)
  if (decided.kind === 'refused') throw refused(step, command)
  // Nothing may stand behind `session.erased`, so an erase is recorded before it is carried out; it can only be applied.
  const early = command.name === 'erase' && decided.kind === 'step' && request.commandId !== null
  if (early) step.run([accepted(step, request, { result: 'applied' })])
  if (decided.kind === 'step') carryOut(step, command, decided.agenda)
  else takeBack(step)
  const receipt = receiptOf(step, command, decided)
  if (request.commandId !== null && !early) step.run([accepted(step, request, receipt)])
  return { step, receipt: { ...receipt, ...(request.commandId === null ? {} : { command: request.commandId }) } }
}

function carryOut(step: Step, command: OperatorCommand, agenda: readonly AgendaItem[]): void {
  const opens = step.world.session === null && command.name !== 'restore'
  const opening = opens ? [openSession(step)] : []
  try {
    step.run([...opening, ...agenda])
  } catch (error) {
    if (error instanceof RefusedStep) throw refused(step, command)
    throw error
  }
}

function openSession(step: Step): AgendaItem {
  const { host } = step.base
  const system = host.system === '' ? null : step.digest(host.system)
  if (system !== null) {
    step.shared.set(system, { digest: system, body: host.system })
    step.base.bodies.systems.set(system, host.system)
  }
  const { budget, context, lowered } = host
  const settings = { model: host.defaultModel, system, limits: lowered, budget, context }
  return { type: 'session.opened', data: { settings } }
}

function refused(step: Step, command: OperatorCommand): LandfallError {
  takeBack(step)
  const { code, message, details } = nameRefusal(step.world, command)
  return refusal(code, message, details)
}

/** Content that the command brought and that nothing came of. */
function takeBack(step: Step): void {
  for (const undo of step.undo) undo()
}

function refusal(code: string, message: string, details: Readonly<Record<string, unknown>>): LandfallError {
  return new LandfallError(code, message, { details: { ...details, refused: true } })
}

/** Refusals carry this mark: they leave the folded state as it was. */
export function isRefusal(error: LandfallError): boolean {
  return error.details.refused === true
}

function repeated(step: Step, request: OperatorRequest, before: ReceiptRecord): Receipt {
  // With the key of an erased session goes what bodies could be compared by.
  const isErased = step.world.session?.matches({ lifecycle: 'erased' }) === true
  if (before.name !== request.name || (!isErased && before.body !== step.digest(comparable(request.body))))
    throw refusal('COMMAND_CONFLICT', 'This command id was used for another command. Use a new id.', {
      command: request.commandId,
    })
  return {
    result: 'duplicate',
    seq: before.seq,
    ...subjectOf(before.name, before.target),
    ...(before.name === 'spawn' && before.result === 'joined' ? { reused: true as const } : {}),
    ...(request.commandId === null ? {} : { command: request.commandId }),
    ...(before.replacement === null ? {} : { replacement: before.replacement }),
    ...(before.superseded === null ? {} : { superseded: before.superseded }),
  }
}

/** Says what happened, which the facts of the step tell: a follow-up that could start at once was not queued. */
function receiptOf(step: Step, command: OperatorCommand, decided: Decided): Receipt {
  const target = decided.kind === 'refused' ? null : decided.target
  const task = subjectOf(command.name, target)
  if (decided.kind === 'noted')
    return {
      result: decided.result,
      ...task,
      ...(decided.reused === undefined ? {} : { reused: true }),
      ...replacementOf(step, target),
    }
  const ended = step.facts.find((fact) => fact.type === 'task.superseded' && fact.task !== target)
  const isOlderReplacement = command.name === 'supersede' && ended !== undefined && isUnstarted(step, ended.task)
  const starts = step.facts.some((fact) => fact.type === 'task.started' && fact.task === target)
  return {
    result: receiptResult(command.name, starts),
    ...task,
    ...(isOlderReplacement && ended?.task != null ? { superseded: ended.task } : {}),
    ...(command.name === 'cancel' ? replacementOf(step, target) : {}),
  }
}

/** What a receipt is about: a task, or a group. */
function subjectOf(name: string, target: string | null): { task?: string; group?: string } {
  if (target === null) return {}
  return groupCommands.has(name) ? { group: target } : { task: target }
}

const groupCommands: ReadonlySet<string> = new Set(['createGroup', 'sealGroup', 'cancelGroup'])

/** What starts behind the task's barrier. The slot belongs to the active task, whichever task a command names. */
function replacementOf(step: Step, target: string | null): { replacement?: string } {
  const session = step.world.session?.context
  const slot = session?.slot ?? null
  return slot === null || session?.active !== target ? {} : { replacement: slot }
}

function isUnstarted(step: Step, task: string | null): boolean {
  return task !== null && step.world.taskRecords.get(task)?.run === null
}

function accepted(step: Step, request: OperatorRequest, receipt: Receipt): AgendaItem {
  const result = receipt.result === 'duplicate' ? 'applied' : receipt.result
  const target = receipt.task ?? receipt.group
  const data: FactOf<'command.accepted'>['data'] = {
    command: request.commandId ?? '',
    name: request.name,
    body: step.digest(comparable(request.body)),
    result,
    ...(target === undefined ? {} : { target }),
    ...(receipt.replacement === undefined ? {} : { replacement: receipt.replacement }),
    ...(receipt.superseded === undefined ? {} : { superseded: receipt.superseded }),
  }
  return { type: 'command.accepted', data }
}
