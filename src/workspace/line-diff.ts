/** Lines `[from, to)` of the old text are replaced by lines `[newFrom, newTo)` of the new one. */
export interface LineChange {
  readonly from: number
  readonly to: number
  readonly newFrom: number
  readonly newTo: number
}

/** Beyond so many differing lines the middle is told as one replacement: looking for the shortest way would take too long. */
const searchedEdits = 1_000

/** How much looking may still be done, over all texts of a patch: the loop of a host must not stand still for a diff. */
export interface SearchRoom {
  left: number
}

/** So many places are looked at for one patch; what comes after is told as replacements. */
export const searchRoom = (): SearchRoom => ({ left: 4_000_000 })

/** What turns one list of lines into another, by the greedy search of Myers, between what both begin and end with. */
export function lineChanges(
  old: readonly string[],
  fresh: readonly string[],
  room: SearchRoom = searchRoom(),
): readonly LineChange[] {
  let head = 0
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1
  let tail = 0
  const most = Math.min(old.length, fresh.length) - head
  while (tail < most && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail += 1
  const left = old.slice(head, old.length - tail)
  const right = fresh.slice(head, fresh.length - tail)
  if (left.length === 0 && right.length === 0) return []
  const steps = left.length === 0 || right.length === 0 ? null : shortestWay(left, right, room)
  if (steps === null) return [{ from: head, to: head + left.length, newFrom: head, newTo: head + right.length }]
  return joined(steps, head)
}

interface Edit {
  readonly x: number
  readonly y: number
  readonly kind: 'delete' | 'insert'
}

/** The edits in order; null when there are too many. `rounds[d]` keeps how far each diagonal got with d edits. */
function shortestWay(left: readonly string[], right: readonly string[], room: SearchRoom): readonly Edit[] | null {
  const most = Math.min(searchedEdits, left.length + right.length)
  let reach = new Map<number, number>([[1, 0]])
  const rounds: Map<number, number>[] = []
  for (let edits = 0; edits <= most && room.left > 0; edits += 1) {
    room.left -= edits + 1
    const next = new Map<number, number>()
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOf(reach, diagonal, edits)
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) x += 1
      next.set(diagonal, x)
      if (x >= left.length && x - diagonal >= right.length) {
        rounds.push(next)
        return wayBack(rounds, left.length, right.length)
      }
    }
    rounds.push(next)
    reach = next
  }
  return null
}

function goesDown(reach: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true
  return diagonal !== edits && (reach.get(diagonal - 1) ?? -1) < (reach.get(diagonal + 1) ?? -1)
}

function startOf(reach: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  if (edits === 0) return 0
  return goesDown(reach, diagonal, edits) ? (reach.get(diagonal + 1) ?? 0) : (reach.get(diagonal - 1) ?? 0) + 1
}

function wayBack(rounds: readonly ReadonlyMap<number, number>[], endX: number, endY: number): readonly Edit[] {
  const found: Edit[] = []
  let x = endX
  let y = endY
  for (let edits = rounds.length - 1; edits > 0; edits -= 1) {
    const reach = rounds[edits - 1] ?? new Map<number, number>()
    const diagonal = x - y
    const down = goesDown(reach, diagonal, edits)
    const before = down ? diagonal + 1 : diagonal - 1
    x = reach.get(before) ?? 0
    y = x - before
    found.push({ x, y, kind: down ? 'insert' : 'delete' })
  }
  return found.reverse()
}

/** Edits that touch each other are one change. */
function joined(edits: readonly Edit[], head: number): readonly LineChange[] {
  const changes: { from: number; to: number; newFrom: number; newTo: number }[] = []
  for (const { x, y, kind } of edits) {
    const last = changes.at(-1)
    const touches = last !== undefined && last.to === head + x && last.newTo === head + y
    const change = touches ? last : { from: head + x, to: head + x, newFrom: head + y, newTo: head + y }
    if (kind === 'delete') change.to += 1
    else change.newTo += 1
    if (!touches) changes.push(change)
  }
  return changes
}
