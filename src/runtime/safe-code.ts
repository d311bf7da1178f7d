import type { Redactor } from '../facts/ports.ts'
import { freeText, withheld } from './free-text.ts'

const lawfulCode = /^[A-Za-z][A-Za-z0-9_.:-]{0,63}$/

export interface SafeCode {
  readonly code: string
  /** The redactor failed on it, so that it was not taken. */
  readonly withheld: boolean
}

/** Codes of models and tools stand in facts as they are, so one that is no word, or that may be a credential, is not taken. */
export function safeCode(redactor: Redactor, code: unknown, otherwise: string): SafeCode {
  if (typeof code !== 'string' || !lawfulCode.test(code)) return { code: otherwise, withheld: false }
  const clean = freeText(redactor, code)
  return { code: clean === code ? code : otherwise, withheld: clean === withheld }
}
