import { LandfallError } from '../../facts/errors.ts'
import { isRecord } from './language-model.ts'

const known: readonly string[] = ['name', 'toolNames', 'headers', 'clock']

/** Options that no request could be made with are refused where they are given, and not when the first turn fails. */
export function checkModelOptions(options: unknown): void {
  if (!isRecord(options)) throw refused('options', 'must be an object')
  for (const field of Object.keys(options))
    if (!known.includes(field)) throw refused(field, `is not known; known are ${known.join(', ')}`)
  const { name, toolNames, headers, clock } = options
  if (name !== undefined && (typeof name !== 'string' || name.trim() === '')) throw refused('name', 'must be a text')
  if (toolNames !== undefined) checkToolNames(toolNames)
  if (headers !== undefined && !isHeaders(headers))
    throw refused('headers', 'must be texts by name, as HTTP takes them')
  if (clock !== undefined && !(isRecord(clock) && typeof clock.now === 'function'))
    throw refused('clock', 'must have a function now')
}

function checkToolNames(rules: unknown): void {
  if (!isRecord(rules)) throw refused('toolNames', 'must be an object of characters and maxChars')
  const { characters, maxChars } = rules
  if (typeof characters !== 'string' || new Set(characters).size < 2)
    throw refused('toolNames.characters', 'must be a text of all characters that may stand in a name')
  if (!Number.isSafeInteger(maxChars) || (maxChars as number) < 1)
    throw refused('toolNames.maxChars', 'must be a whole number of at least 1')
}

function isHeaders(headers: unknown): boolean {
  if (!isRecord(headers) || !Object.values(headers).every((value) => typeof value === 'string')) return false
  try {
    return new Headers(headers as Record<string, string>) !== undefined
  } catch {
    return false
  }
}

function refused(field: string, why: string): LandfallError {
  return new LandfallError('INVALID_INPUT', `The model is refused: ${field} ${why}.`, { details: { field } })
}
