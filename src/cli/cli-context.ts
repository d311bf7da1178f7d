import type { Scope } from '../facts/scope.ts'
import { defaultRedactor } from '../redaction/default-redactor.ts'
import { checkedScope } from '../runtime/checked-scope.ts'
import type { Output } from './output.ts'
import type { Settings } from './settings.ts'
import { usageError } from './usage-error.ts'

/** What a command works with. `args` are its words, a missing one undefined; `options` its own flags. */
export interface CliContext {
  readonly settings: Settings
  readonly output: Output
  readonly args: readonly unknown[]
  readonly options: Readonly<Record<string, unknown>>
}

/** Does the work of one command and gives the exit code. */
export type CliCommand = (context: CliContext) => Promise<number>

export function scopeOf({ tenant, user, session }: Settings): Scope {
  return checkedScope(defaultRedactor(), { tenant, user, session })
}

export function textOption(context: CliContext, name: string): string | undefined {
  const value = context.options[name]
  return typeof value === 'string' ? value : undefined
}

export function textArgument(context: CliContext, at: number): string | undefined {
  const value = context.args[at]
  return typeof value === 'string' ? value : undefined
}

/** An option that takes one of a few words. */
export function choiceOption<T extends string>(
  context: CliContext,
  name: string,
  choices: readonly T[],
): T | undefined {
  const given = textOption(context, name)
  if (given === undefined) return undefined
  const found = choices.find((choice) => choice === given)
  if (found === undefined) throw usageError(`--${name} takes one of ${choices.join(', ')}.`)
  return found
}
