import { useEffect, useRef, useState } from 'preact/hooks'
import type { ConsoleSession } from './console-session.ts'
import { shownSeq } from './console-store.ts'
import type { Fact } from './shapes.ts'
import { useWholeConsole } from './use-console.ts'
import { asJson, clockTime } from './words.ts'

/** Height of a row in pixels, as the style sheet has it. */
const rowHeight = 28
const spare = 8

/** The facts of the session, of which only those in sight are drawn; the chosen one is the moment that is shown. */
export function FactPanel({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const state = useWholeConsole(store)
  const { facts, at } = state
  const seq = shownSeq(state)
  const place = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 400 })
  const look = (to: number) => store.trigger.look({ at: to })
  useEffect(() => {
    const list = place.current
    if (list === null) return
    const top = (seq - 1) * rowHeight
    if (top < list.scrollTop) list.scrollTop = top
    else if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight
    setView({ top: list.scrollTop, height: list.clientHeight })
  }, [seq])
  const first = Math.max(Math.floor(view.top / rowHeight) - spare, 0)
  const shown = facts.slice(first, first + Math.ceil(view.height / rowHeight) + 2 * spare)
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(Math.floor(view.height / rowHeight) - 1, 1)
    const to = keyTarget(event.key, { seq, page, last: facts.length })
    if (to === null) return
    event.preventDefault()
    look(to)
  }
  return (
    <>
      <div
        class="facts"
        role="listbox"
        aria-label="Facts"
        aria-activedescendant={`fact-${seq}`}
        tabIndex={0}
        ref={place}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget }) => setView({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })}
      >
        <div class="facts-all" style={{ height: `${facts.length * rowHeight}px` }}>
          {shown.map((fact) => (
            <FactRow
              key={fact.seq}
              fact={fact}
              count={facts.length}
              isChosen={fact.seq === seq}
              isAhead={at !== null && fact.seq > at}
              onLook={look}
            />
          ))}
        </div>
      </div>
      <FactDetail fact={facts[seq - 1]} />
    </>
  )
}

interface Keys {
  readonly seq: number
  readonly page: number
  readonly last: number
}

function keyTarget(key: string, { seq, page, last }: Keys): number | null {
  const targets: Readonly<Record<string, number>> = {
    ArrowUp: seq - 1,
    ArrowDown: seq + 1,
    PageUp: seq - page,
    PageDown: seq + page,
    Home: 1,
    End: last,
  }
  const to = targets[key]
  return to === undefined ? null : Math.min(Math.max(to, 1), last)
}

interface Row {
  readonly fact: Fact
  readonly count: number
  readonly isChosen: boolean
  readonly isAhead: boolean
  readonly onLook: (seq: number) => void
}

function FactRow({ fact, count, isChosen, isAhead, onLook }: Row) {
  const { seq, type, at, task, call } = fact
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names its active option.
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the list's.
    <div
      class={`fact fact-${type.split('.')[0]}${isAhead ? ' fact-ahead' : ''}`}
      role="option"
      id={`fact-${seq}`}
      aria-selected={isChosen}
      aria-posinset={seq}
      aria-setsize={count}
      style={{ top: `${(seq - 1) * rowHeight}px` }}
      onClick={() => onLook(seq)}
    >
      <span class="fact-seq">{seq}</span>
      <span class="fact-type">{type}</span>
      <span class="hint">{(call ?? task ?? '').slice(-6)}</span>
      <span class="hint fact-time">{clockTime(at)}</span>
    </div>
  )
}

function FactDetail({ fact }: { fact: Fact | undefined }) {
  if (fact === undefined) return null
  const { seq, type, by, task, call, data } = fact
  return (
    <section class="fact-detail" aria-label="The chosen fact">
      <h3>
        {seq} {type}
      </h3>
      <p class="hint">
        by {by.kind} {by.id}
        {task === null ? '' : ` · task ${task}`}
        {call === null ? '' : ` · call ${call}`}
      </p>
      <pre>{asJson(data)}</pre>
    </section>
  )
}
