import type { CapabilityRef } from '../../machines/vocabulary.ts'

/** Where the definition of a capability stands in the shared content of a session. */
export function definitionKey(ref: CapabilityRef): string {
  return `definition:${ref.id}@${ref.generation}:${ref.contract}`
}
