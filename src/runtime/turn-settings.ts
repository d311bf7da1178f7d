import type { JsonObject } from '../../machines/vocabulary.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Redactor } from '../facts/ports.ts'

/**
 * Settings go to the model as they are, and stand in facts as they are: what the runtime itself counts with has to make sense, and
 * what the redactor would alter is refused, because a request without it would be another one.
 */
export function checkSettings(settings: JsonObject, redactor: Redactor): void {
  const { maxOutput } = settings
  if (maxOutput !== undefined && !isMaxOutput(maxOutput))
    throw new LandfallError('INVALID_INPUT', 'settings.maxOutput is a whole number of tokens of at least 1.', {
      details: { field: 'settings.maxOutput' },
    })
  if (Object.keys(settings).length > 0 && !isKept(redactor, settings))
    throw new LandfallError('INVALID_INPUT', 'The settings hold what looks like a credential. Give it to the model.', {
      details: { field: 'settings' },
    })
}

/** A name that facts tell as it is, such as that of a capability or its provider. */
export function checkName(name: string, field: string, redactor: Redactor): void {
  if (isKept(redactor, name)) return
  throw new LandfallError('INVALID_INPUT', 'A name looks like a credential. Correct it.', { details: { field } })
}

/** Whether the redactor leaves it as it is. What it fails on goes nowhere. */
function isKept(redactor: Redactor, value: JsonObject | string): boolean {
  try {
    const clean = typeof value === 'string' ? redactor.text(value) : redactor.value(value)
    return JSON.stringify(clean) === JSON.stringify(value)
  } catch {
    return false
  }
}

/** A log or a checkpoint may come from a host that did not check. */
export function isMaxOutput(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
}
