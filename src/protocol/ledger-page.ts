import type { Limits } from '../facts/limits.ts'
import type { LedgerEntry } from '../runtime/ledger.ts'
import { type Page, type PageQuery, pageSize, placeText, readPlace } from './page.ts'

/** How far a reader has come in the session, and in the control stream, where elevated reads are. */
type Progress = readonly [session: number, elevated: number]

/** Both streams grow at their ends, so a place is one position in each: what comes meanwhile is on a later page, and none is left out. */
export function ledgerPage(
  all: readonly LedgerEntry[],
  { after, limit }: PageQuery,
  limits: Pick<Limits, 'pageItems' | 'pageMaxItems'>,
): Page<LedgerEntry> {
  const size = pageSize(limit, limits)
  const begun = after === undefined ? ([0, 0] as const) : progressOf(after)
  const unseen = all.filter((entry) => entry.seq > begun[streamOf(entry)])
  const items = unseen.slice(0, size)
  if (items.length === unseen.length) return { items }
  const reached = (stream: 0 | 1) => items.findLast((entry) => streamOf(entry) === stream)?.seq ?? begun[stream]
  return { items, next: placeText([reached(0), reached(1)]) }
}

function streamOf({ kind }: LedgerEntry): 0 | 1 {
  return kind === 'elevated_read' ? 1 : 0
}

function progressOf(after: string): Progress {
  const [session = 0, elevated = 0] = readPlace(after)
  return [Number(session) || 0, Number(elevated) || 0]
}
