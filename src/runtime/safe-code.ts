import type { Redactor } from '../facts/ports.ts'
import { freeText } from './free-text.ts'

const lawfulCode = /^[A-Za-z][A-Za-z0-9_.:-]{0,63}$/

/** Codes of models and tools stand in facts as they are, so one that is no word, or that may be a credential, is not taken. */
export function safeCode(redactor: Redactor, code: unknown, otherwise: string): string {
  return typeof code === 'string' && lawfulCode.test(code) && freeText(redactor, code) === code ? code : otherwise
}
