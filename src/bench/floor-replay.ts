import { type FloorStore, preparedTurn, writeTurn } from './floor.ts'
import { FloorFold } from './floor-charts.ts'
import { parseFloorRow } from './floor-rows.ts'

export function fillFloor(store: FloorStore, turns: number): void {
  for (let turn = 1; turn <= turns; turn += 1) writeTurn(store, preparedTurn(0, turn))
}

/** Reads and parses every row of the session; returns how many. */
export function readBack(store: FloorStore): number {
  let rows = 0
  for (const row of store.rows(0)) if (parseFloorRow(row).type !== undefined) rows += 1
  return rows
}

/** Reads, parses and folds every row of the session; returns the turns that the charts counted. */
export function replay(store: FloorStore): number {
  const fold = new FloorFold()
  for (const row of store.rows(0)) fold.offer(parseFloorRow(row))
  return fold.turns
}
