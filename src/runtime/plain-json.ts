import type { Json } from '../../machines/vocabulary.ts'

/** JSON to the letter: nothing in it would be changed or left out by writing it down. What nests too deep to walk is not. */
export function isPlainJson(value: unknown): value is Json {
  try {
    return isJson(value)
  } catch {
    return false
  }
}

function isJson(value: unknown): value is Json {
  if (value === null || typeof value === 'boolean') return true
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return [...value].every(isJson)
  return typeof value === 'object' && isPlain(value) && Object.entries(value).flat().every(isJson)
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
