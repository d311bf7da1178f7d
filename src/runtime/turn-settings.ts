import type { JsonObject } from '../../machines/vocabulary.ts'
import { LandfallError } from '../facts/errors.ts'

/** Settings go to the model as they are; only what the runtime itself counts with has to make sense. */
export function checkSettings(settings: JsonObject): void {
  const { maxOutput } = settings
  if (maxOutput === undefined || isMaxOutput(maxOutput)) return
  throw new LandfallError('INVALID_INPUT', 'settings.maxOutput is a whole number of tokens of at least 1.', {
    details: { field: 'settings.maxOutput' },
  })
}

/** A log or a checkpoint may come from a host that did not check. */
export function isMaxOutput(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
}
