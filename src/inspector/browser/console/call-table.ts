import type { Fact } from './shapes.ts'

/** A call as the facts up to a moment tell it. */
export interface CallRow {
  readonly id: string
  readonly task: string
  readonly name: string
  readonly effect: string | null
  readonly state: string
  readonly isOver: boolean
}

const phases: Readonly<Record<string, string>> = {
  'call.held': 'held',
  'call.started': 'started',
  'call.aborting': 'aborting',
  'call.verifying': 'verifying',
  'call.interrupted': 'requested',
}
const ends: Readonly<Record<string, string>> = {
  'call.refused': 'refused',
  'call.cancelled': 'cancelled',
  'call.unknown': 'unknown',
}

/** Calls in the order in which they were asked for, as they stood at `at`. */
export function callTable(facts: readonly Fact[], at: number): readonly CallRow[] {
  const rows = new Map<string, CallRow>()
  for (const { seq, type, task, call, data } of facts) {
    if (seq > at) break
    if (call === null) continue
    const known = rows.get(call)
    if (type === 'call.requested')
      rows.set(call, {
        id: call,
        task: task ?? '',
        name: text(data.name),
        effect: typeof data.effect === 'string' ? data.effect : null,
        state: 'requested',
        isOver: false,
      })
    else if (known !== undefined) rows.set(call, { ...known, ...phaseOf(known, type, data) })
  }
  return [...rows.values()]
}

function phaseOf(row: CallRow, type: string, data: Fact['data']): Pick<CallRow, 'state' | 'isOver'> {
  if (type === 'call.finished') return { state: text(data.outcome), isOver: true }
  const end = ends[type]
  if (end !== undefined) return { state: end, isOver: true }
  return { state: phases[type] ?? row.state, isOver: row.isOver && phases[type] === undefined }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
