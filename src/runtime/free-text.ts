import { limits } from '../facts/limits.ts'
import type { Redactor } from '../facts/ports.ts'

/** Stands in a field whose text the redactor could not clean; `redaction-audit.ts` tells of it. */
export const withheld = '[withheld]'

/** The few free-text fields of facts: redacted, and short. When the redactor fails the raw text goes nowhere. */
export function freeText(redactor: Redactor, text: string): string {
  try {
    return Array.from(redactor.text(text)).slice(0, limits.freeTextChars).join('')
  } catch {
    return withheld
  }
}
