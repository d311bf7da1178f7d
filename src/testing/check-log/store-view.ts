/**
 * What the control stream of a store tells: revocations and disabled providers, each from the cursor of its fact on. A step
 * that starts a call is decided again when the store's version is newer at its commit, so cursors alone decide.
 */
export interface StoreView {
  readonly revoked: Map<string, number>
  /** Spans of cursors in which a provider was disabled; the last one may be open. */
  readonly disabled: Map<string, { readonly from: number; until: number | null }[]>
}

export function emptyStore(): StoreView {
  return { revoked: new Map(), disabled: new Map() }
}

export function isRevoked(store: StoreView, capability: string, cursor: number): boolean {
  return (store.revoked.get(capability) ?? Number.POSITIVE_INFINITY) < cursor
}

export function isDisabled(store: StoreView, provider: string, cursor: number): boolean {
  const spans = store.disabled.get(provider) ?? []
  return spans.some(({ from, until }) => from < cursor && (until === null || cursor < until))
}
