import { LandfallError } from '../facts/errors.ts'

/** Options as somebody gave them, with or without types: a record, or a refusal that says so. */
export function givenOptions<T extends object>(options: T): T {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options
  throw new LandfallError('INVALID_INPUT', 'Options are a record of named values.', { details: { field: 'options' } })
}

/** The id of a task or a group, given as it is or by its handle. */
export function givenId(field: 'tasks' | 'group', given: string | { readonly id: string }): string {
  const id: unknown = typeof given === 'object' && given !== null ? given.id : given
  if (typeof id === 'string') return id
  throw new LandfallError('INVALID_INPUT', 'Name it by its id, or give its handle.', { details: { field } })
}
