/** The identity triple that every record, read and subscription carries. */
export interface Scope {
  readonly tenant: string
  readonly user: string
  readonly session: string
}

/**
 * What belongs to no session (revocations, disabled providers, elevated reads) is in this one stream a store.
 * Ids that begin with `_` are refused from users, so nobody else can name it.
 */
export const controlScope: Scope = { tenant: '_control', user: '_control', session: '_control' }

/** One string a scope; ids hold no control characters, so NUL cannot occur in them. */
export function scopeKey(scope: Scope): string {
  return `${scope.tenant}\u0000${scope.user}\u0000${scope.session}`
}
