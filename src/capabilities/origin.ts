/** Whose word a description is: our own, the host's, or that of somebody whom the host has not vouched for. */
export type Trust = 'builtin' | 'operator' | 'untrusted'

/** Where a capability comes from. A provider that is bound again says so by its binding. */
export interface Origin {
  readonly id: string
  readonly provider: string
  readonly binding: number
  readonly trust: Trust
}

/** Of what a host defines in its own code. */
export function hostOrigin({ kind, name }: { kind: 'tool' | 'skill'; name: string }): Origin {
  return { id: `${kind}:${name}`, provider: 'host', binding: 1, trust: 'operator' }
}
