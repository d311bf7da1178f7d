/**
 * The eight rows of the floor's turn, two in each of its four transactions: one user message, a model request, its answer
 * with one call, the call's result, a second request, the final answer.
 */
export type FloorEvent =
  | { readonly type: 'turn.created'; readonly turn: number; readonly bytes: number }
  | { readonly type: 'model.requested'; readonly step: number; readonly bytes: number }
  | { readonly type: 'model.answered'; readonly step: number; readonly tokens: number; readonly calls: number }
  | { readonly type: 'call.started'; readonly call: number; readonly effect: 'read' | 'mutate' }
  | { readonly type: 'call.finished'; readonly call: number; readonly bytes: number }
  | { readonly type: 'turn.completed'; readonly turn: number; readonly steps: number }

export type FloorTurn = readonly (readonly FloorEvent[])[]

export const rowsATurn = 8
export const stepsATurn = 4
export const rowBytes = 300

export function floorTurn(turn: number): FloorTurn {
  return [
    [
      { type: 'turn.created', turn, bytes: 100 },
      { type: 'model.requested', step: 0, bytes: 1200 },
    ],
    [
      { type: 'model.answered', step: 0, tokens: 150, calls: 1 },
      { type: 'call.started', call: 0, effect: 'read' },
    ],
    [
      { type: 'call.finished', call: 0, bytes: 100 },
      { type: 'model.requested', step: 1, bytes: 1400 },
    ],
    [
      { type: 'model.answered', step: 1, tokens: 190, calls: 0 },
      { type: 'turn.completed', turn, steps: 2 },
    ],
  ]
}

/** A row's text: the event with an identity, a time and what a digest would fill, `rowBytes` long. */
export function floorRow(event: FloorEvent, session: number, seq: number): string {
  const bare = JSON.stringify({ session: `session-${session}`, seq, at: '2026-01-01T00:00:00.000Z', event, filler: '' })
  return `${bare.slice(0, -2)}${'f'.repeat(Math.max(0, rowBytes - bare.length))}"}`
}

export function parseFloorRow(row: string): FloorEvent {
  return (JSON.parse(row) as { event: FloorEvent }).event
}
