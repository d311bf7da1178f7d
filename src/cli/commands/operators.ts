import { LandfallError } from '../../facts/errors.ts'
import type { Receipt } from '../../runtime/command.ts'
import type { Session } from '../../runtime/session.ts'
import { type CliContext, choiceOption, textArgument, textOption } from '../cli-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { finishWork } from '../finish-work.ts'
import { openSession } from '../open-session.ts'
import { readInput } from '../read-input.ts'
import { TurnProgress } from '../turn-progress.ts'
import { usageError } from '../usage-error.ts'

export async function steer(context: CliContext): Promise<number> {
  const input = await readInput(textArgument(context, 0))
  const mode = choiceOption(context, 'mode', ['boundary', 'interrupt'])
  const options = { ...common(context, ['task']), ...(mode === undefined ? {} : { mode }) }
  return operate(context, (session) => session.steer(input, options))
}

export async function cancel(context: CliContext): Promise<number> {
  const steering = choiceOption(context, 'steering', ['inherit', 'expire'])
  const named = textArgument(context, 0)
  const options = {
    ...common(context, ['task', 'reason']),
    ...(named === undefined ? {} : { task: named }),
    ...(steering === undefined ? {} : { steering }),
  }
  return operate(context, (session) => session.cancel(options))
}

export async function pause(context: CliContext): Promise<number> {
  return operate(context, (session) => session.pause(common(context, ['task'])))
}

export async function resume(context: CliContext): Promise<number> {
  const decision = choiceOption(context, 'decision', ['approve', 'reject', 'resume', 'timeout']) ?? 'resume'
  const input = textOption(context, 'input')
  const answer = { ...common(context, []), decision, ...(input === undefined ? {} : { input }) }
  return operate(context, (session) => session.resume(textArgument(context, 0) ?? '', answer))
}

export async function confirm(context: CliContext): Promise<number> {
  const decision = textArgument(context, 1)
  if (decision !== 'allow' && decision !== 'deny') throw usageError('Confirm with allow or deny.')
  const token = textArgument(context, 0) ?? ''
  return operate(context, (session) => session.confirm(token, decision, common(context, [])))
}

export async function unblock(context: CliContext): Promise<number> {
  return operate(context, (session) => session.unblock(textArgument(context, 0) ?? '', common(context, [])))
}

export async function replace(context: CliContext): Promise<number> {
  const input = await readInput(textArgument(context, 1))
  return operate(context, (session) => session.replace(textArgument(context, 0) ?? '', input, common(context, [])))
}

export async function acknowledge(context: CliContext): Promise<number> {
  const named = context.args[0]
  const calls = Array.isArray(named) ? named.map(String) : []
  const whole = calls.length === 1 && calls[0] === 'all'
  return operate(context, (session) => session.acknowledge(whole ? 'all' : calls, common(context, [])))
}

export async function close(context: CliContext): Promise<number> {
  return operate(context, (session) => session.close(ending(context)))
}

export async function erase(context: CliContext): Promise<number> {
  return operate(context, (session) => session.erase(ending(context)))
}

export async function reopen(context: CliContext): Promise<number> {
  return operate(context, (session) => session.reopen(common(context, [])))
}

function ending(context: CliContext): { commandId?: string; reason?: string; cancel?: boolean } {
  return { ...common(context, ['reason']), ...(context.options.cancel === true ? { cancel: true } : {}) }
}

/** Options of a command that go to the session under their own names. */
function common<K extends string>(context: CliContext, names: readonly K[]): { [P in K | 'commandId']?: string } {
  const found: { [P in K | 'commandId']?: string } = {}
  for (const name of [...names, 'commandId'] as const) {
    const value = textOption(context, name)
    if (value !== undefined) found[name] = value
  }
  return found
}

/** Carries out one command, prints its receipt, and stays while what it set in motion is at work in this process. */
async function operate(context: CliContext, command: (session: Session) => Promise<Receipt>): Promise<number> {
  const open = await openSession(context, { existing: true })
  const progress = new TurnProgress(open.runtime, open.scope, context.output)
  try {
    const receipt = await open.safely(command(open.session))
    context.output.result(receipt, () => [receiptText(receipt)])
    await finishWork(open, progress)
    return exitCodes.done
  } catch (error) {
    throw clearer(error)
  } finally {
    progress.stop()
    await open.close()
  }
}

function receiptText({ result, ...more }: Receipt): string {
  return [result, ...Object.entries(more).map(([name, value]) => `${name}=${value}`)].join(' ')
}

function clearer(error: unknown): unknown {
  if (!(error instanceof LandfallError) || error.code !== 'OWNERSHIP_LOST') return error
  return new LandfallError(
    'OWNERSHIP_LOST',
    'Another process works on this session. Give it the command, or end it first.',
    {
      retryable: true,
      details: error.details,
    },
  )
}
