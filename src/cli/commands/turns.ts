import { LandfallError } from '../../facts/errors.ts'
import type { TaskHandle } from '../../runtime/task-handle.ts'
import { type CliContext, choiceOption, textArgument, textOption } from '../cli-context.ts'
import { exitCodeOfStatus } from '../exit-codes.ts'
import { finishWork } from '../finish-work.ts'
import { Interrupt } from '../interrupt.ts'
import { type OpenOptions, type OpenSession, openSession } from '../open-session.ts'
import { readInput } from '../read-input.ts'
import { stayWithTask } from '../stay-with-task.ts'
import { TurnProgress } from '../turn-progress.ts'

type Submit = (open: OpenSession, input: string) => Promise<TaskHandle>

export async function run(context: CliContext): Promise<number> {
  return turn(context, ({ session }, input) => session.start(input, commandIdOf(context)), { idle: true })
}

export async function followUp(context: CliContext): Promise<number> {
  const requires = choiceOption(context, 'requires', ['success', 'none'])
  const options = { ...commandIdOf(context), ...(requires === undefined ? {} : { requires }) }
  return turn(context, ({ session }, input) => session.followUp(input, options))
}

export async function supersede(context: CliContext): Promise<number> {
  const task = textOption(context, 'task')
  const options = { ...commandIdOf(context), ...(task === undefined ? {} : { task }) }
  return turn(context, ({ session }, input) => session.supersede(input, options))
}

/** Submits a turn, shows it while it works, and prints what came of it. */
export async function turn(context: CliContext, submit: Submit, options: OpenOptions = {}): Promise<number> {
  const input = await readInput(textArgument(context, 0))
  const interrupt = new Interrupt()
  const open = await openSession(context, options)
  const progress = new TurnProgress(open.runtime, open.scope, context.output)
  try {
    const task = await open.safely(submit(open, input))
    interrupt.arm(() => void cancelTask(context, open, task.id))
    const code = await open.safely(ended(context, task, { open, progress }))
    await finishWork(open, progress)
    return code
  } finally {
    progress.stop()
    await open.close()
    interrupt.release()
  }
}

interface Shown {
  readonly open: OpenSession
  readonly progress: TurnProgress
}

async function cancelTask({ output }: CliContext, open: OpenSession, task: string): Promise<void> {
  output.note('cancelling; interrupt again to leave at once')
  try {
    await open.session.cancel({ task, reason: 'interrupted at the terminal' })
  } catch (error) {
    output.error(error)
  }
}

async function ended({ output }: CliContext, task: TaskHandle, of: Shown): Promise<number> {
  const { open, progress } = of
  if (task.receipt.result === 'queued') output.note(`queued as ${task.id}`)
  const outcome = await stayWithTask(open, task, progress)
  await progress.shown(task.id)
  const { status, message, code, reason, usage, steps, calls } = outcome
  if (output.json) output.value({ task: task.id, receipt: task.receipt, ...outcome })
  // Somebody who looked on has read it already.
  else if (message !== undefined && output.live !== process.stdout) output.line(message)
  if (status === 'failed' && !output.json)
    output.error(new LandfallError(code ?? 'TASK_FAILED', sentenceOf(reason), { details: { task: task.id } }))
  const figures = [counted(steps, 'model request'), counted(calls.total, 'call'), counted(usage.total, 'token')]
  output.note(`${status}: ${figures.join(', ')}; task ${task.id}`)
  return exitCodeOfStatus(status)
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function sentenceOf(reason: string | undefined): string {
  return reason === undefined ? 'The turn failed.' : `The turn failed: ${reason.replace(/\.?$/, '.')}`
}

function commandIdOf(context: CliContext): { commandId?: string } {
  const commandId = textOption(context, 'commandId')
  return commandId === undefined ? {} : { commandId }
}
