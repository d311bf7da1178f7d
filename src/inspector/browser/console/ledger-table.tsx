import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { sessionPath } from './api.ts'
import type { ConsoleSession } from './console-session.ts'
import { shownSeq } from './console-store.ts'
import type { LedgerEntry } from './shapes.ts'
import { useConsole } from './use-console.ts'
import { useReading } from './use-reading.ts'
import { clockTime, plural, shortId } from './words.ts'

const step = 50
const told = new Set(['seq', 'at', 'task', 'call', 'by', 'kind', 'evidence'])

/** What was done and decided up to the moment that is shown, the newest first; a row leads to its fact. */
export function LedgerTable({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const session = useConsole(store, (state) => state.session) ?? ''
  const last = useConsole(store, ({ facts }) => facts.length)
  const seq = useConsole(store, shownSeq)
  const [count, setCount] = useState(step)
  const look = (to: number) => store.trigger.look({ at: to })
  const { value, problem } = useReading(last === 0 ? null : `${session} ${last}`, (signal) =>
    desk.api.list<LedgerEntry>(`${sessionPath(session)}/ledger`, signal),
  )
  if (problem !== '') return <p class="hint">{problem}</p>
  // Elevated reads have a seq of their own stream, so they are in no moment of this one.
  const all = (value ?? []).filter((entry) => entry.kind !== 'elevated_read' && entry.seq <= seq)
  const elsewhere = (value ?? []).filter(({ kind }) => kind === 'elevated_read')
  if (all.length + elsewhere.length === 0) return <p class="hint">Nothing was done or decided yet.</p>
  const shown = all.slice(-count).reverse()
  return (
    <>
      <p class="hint">
        {plural(all.length, 'entry', 'entries')}
        {elsewhere.length === 0 ? '' : `, and ${plural(elsewhere.length, 'look')} by others with an elevated claim`}
      </p>
      <table class="ledger" aria-label="Ledger">
        <thead>
          <tr>
            <th scope="col">Fact</th>
            <th scope="col">What</th>
          </tr>
        </thead>
        <tbody>{shown.map((entry) => rowOf(entry, look))}</tbody>
      </table>
      {all.length > count ? (
        <button type="button" onClick={() => setCount(count + step)}>
          Show earlier entries
        </button>
      ) : null}
    </>
  )
}

/** What was drawn for an entry once is drawn for it again: it does not change. */
const drawn = new WeakMap<LedgerEntry, VNode>()

function rowOf(entry: LedgerEntry, onLook: (seq: number) => void): VNode {
  const known = drawn.get(entry)
  if (known !== undefined) return known
  const row = <LedgerRow key={entry.seq} entry={entry} onLook={() => onLook(entry.seq)} />
  drawn.set(entry, row)
  return row
}

function LedgerRow({ entry, onLook }: { entry: LedgerEntry; onLook: () => void }) {
  const { seq, at, kind, by, call, task, evidence } = entry
  const details = Object.entries(entry).filter(([name]) => !told.has(name))
  const about = call ?? task
  return (
    <tr>
      <td>
        <button type="button" class="plain" aria-label={`Look at fact ${seq}`} onClick={onLook}>
          {seq}
        </button>
      </td>
      <th scope="row">
        <b>{kind.replaceAll('_', ' ')}</b>{' '}
        {details.map(([name, value]) => (
          <span key={name}>
            {name === kind ? null : <span class="hint">{name} </span>}
            {detailText(value)}{' '}
          </span>
        ))}
        <p class="hint">
          {clockTime(at)} by {by.kind} {shortId(by.id)}
          {about === null ? null : `, about ${shortId(about)}`}
          {evidence === undefined ? null : (
            <>
              , evidence <code title={evidence}>{evidence.slice(-12)}</code>
            </>
          )}
        </p>
      </th>
    </tr>
  )
}

function detailText(value: unknown): string {
  if (Array.isArray(value)) return value.map((each) => shortId(String(each))).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
