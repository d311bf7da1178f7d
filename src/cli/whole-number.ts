import { usageError } from './usage-error.ts'

export function wholeNumber(name: string, text: string | undefined, least = 0): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value
  throw usageError(`${name} takes a whole number of at least ${least}.`)
}
