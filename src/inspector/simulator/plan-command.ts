import { isAsk } from '../../../machines/agenda.ts'
import { decide } from '../../../machines/decide.ts'
import type { Draft, Fact, FactType } from '../../../machines/facts.ts'
import type { World } from '../../../machines/world.ts'
import { LandfallError } from '../../facts/errors.ts'
import type { OperatorRequest, Receipt } from '../../runtime/command.ts'
import { type CommandName, checkBody, commandBodies, isCommandName } from '../../runtime/command-bodies.ts'
import { operatorRequest } from '../../runtime/operator-requests.ts'
import { planOperator } from '../../runtime/plan-operator.ts'
import { standInHost, standInScope } from './stand-in-host.ts'
import { standInStep } from './stand-in-step.ts'

/** A command as it is sent to a session: its name beside its words. */
export interface GivenCommand {
  readonly name: string
  readonly [word: string]: unknown
}

export type PlannedCommand =
  | { readonly result: Receipt['result']; readonly facts: readonly Fact[] }
  | {
      readonly result: 'refused'
      readonly code: string
      readonly message: string
      /** What would have happened first, had the charts let it. */
      readonly offered: Draft | null
    }

/** Plans the step of a command exactly as a runtime does, on a world that may be thrown away. */
export function planCommand(around: { readonly due: FactType | null; copy(): World }, given: unknown): PlannedCommand {
  const { name, body, commandId } = commandOf(given)
  let request: OperatorRequest | null = null
  try {
    request = operatorRequest(standInHost, standInScope, { name, body: checkBody(name, body), commandId })
    if (around.due !== null) throw unsettled(around.due)
    const step = standInStep(around.copy(), request, request.name)
    const { receipt } = planOperator(step, request)
    return { result: receipt.result, facts: step.facts as unknown[] as Fact[] }
  } catch (error) {
    const { code, message } = refusalOf(error)
    return {
      result: 'refused',
      code,
      message,
      offered: request === null || around.due !== null ? null : firstOf(around.copy(), request),
    }
  }
}

/** What is said where a word is left out, as by the methods of a session. */
const unsaid: { readonly [N in CommandName]?: object } = {
  followUp: { requires: 'none' },
  spawn: { propagate: 'cascade' },
  steer: { mode: 'boundary' },
  cancel: { reason: 'cancelled by the operator', steering: 'inherit' },
  close: { cancel: false },
  erase: { cancel: false },
}

function commandOf(given: unknown): { name: CommandName; body: object; commandId: string | undefined } {
  const { name, commandId, ...body } = (given ?? {}) as GivenCommand
  if (typeof name === 'string' && isCommandName(name))
    return { name, body: { ...unsaid[name], ...body }, commandId: commandId as string | undefined }
  throw new LandfallError(
    'INVALID_INPUT',
    `A command has a name, one of ${Object.keys(commandBodies).join(', ')}, and its words beside it.`,
    { details: { field: 'command' } },
  )
}

/** The chart that a refusal comes from is asked again, to see which guard it was. */
function firstOf(world: World, request: OperatorRequest): Draft | null {
  try {
    const decided = decide(world, request.build(standInStep(world, request, request.name)))
    const first = decided.kind === 'step' ? decided.agenda[0] : undefined
    return first === undefined || isAsk(first) ? null : (first as Draft)
  } catch {
    return null
  }
}

/** Facts that are played by hand may lead to where no runtime comes, and there its steps break. */
function refusalOf(error: unknown): { code: string; message: string } {
  if (error instanceof LandfallError && error.code !== 'INTERNAL') return { code: error.code, message: error.message }
  return {
    code: 'INVALID_INPUT',
    message:
      'No runtime comes to this state, which facts that were played by hand led to, so none carries the command out here. Go back.',
  }
}

/** Commands wait while a runtime is in the middle of a step. */
function unsettled(due: FactType): LandfallError {
  const message = `No command arrives here: a runtime goes on with ${due} in the same step. Play it first.`
  return new LandfallError('INVALID_INPUT', message, { details: { field: 'command' } })
}
