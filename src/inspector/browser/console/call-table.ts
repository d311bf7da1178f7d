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

type Phase = Pick<CallRow, 'state' | 'isOver'> & { readonly seq: number }

interface CallHistory {
  readonly row: CallRow
  readonly phases: Phase[]
}

/** Made once for a list of facts, so that a step in time goes through calls and not through everything that happened. */
const histories = new WeakMap<readonly Fact[], readonly CallHistory[]>()

/** Calls in the order in which they were asked for, as they stood at `at`. */
export function callTable(facts: readonly Fact[], at: number): readonly CallRow[] {
  const known = histories.get(facts) ?? historiesOf(facts)
  histories.set(facts, known)
  const rows: CallRow[] = []
  for (const { row, phases } of known) {
    const now = phases.findLast(({ seq }) => seq <= at)
    // The others were asked for later still.
    if (now === undefined) break
    rows.push({ ...row, state: now.state, isOver: now.isOver })
  }
  return rows
}

function historiesOf(facts: readonly Fact[]): readonly CallHistory[] {
  const calls = new Map<string, CallHistory>()
  for (const { seq, type, task, call, data } of facts) {
    if (call === null) continue
    const known = calls.get(call)
    if (type === 'call.requested') {
      const effect = typeof data.effect === 'string' ? data.effect : null
      const row = { id: call, task: task ?? '', name: text(data.name), effect, state: 'requested', isOver: false }
      calls.set(call, { row, phases: [{ seq, state: row.state, isOver: row.isOver }] })
    } else {
      const before = known?.phases.at(-1)
      if (before !== undefined) known?.phases.push({ seq, ...phaseOf(before, type, data) })
    }
  }
  return [...calls.values()]
}

function phaseOf(before: Phase, type: string, data: Fact['data']): Pick<CallRow, 'state' | 'isOver'> {
  if (type === 'call.finished') return { state: text(data.outcome), isOver: true }
  const end = ends[type]
  if (end !== undefined) return { state: end, isOver: true }
  return { state: phases[type] ?? before.state, isOver: before.isOver && phases[type] === undefined }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
