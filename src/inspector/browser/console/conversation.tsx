import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ConsoleSession } from './console-session.ts'
import { isKnown, shownSeq } from './console-store.ts'
import type { Draft } from './drafts.ts'
import type { Message } from './shapes.ts'
import { useConsole } from './use-console.ts'
import { asJson } from './words.ts'

const step = 100
const longText = 600

/** The conversation up to the moment that is shown. Whatever it says is text, never markup. */
export function Conversation({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const all = useConsole(store, (state) => state.messages)
  const drafts = useConsole(store, (state) => state.drafts)
  const at = useConsole(store, (state) => state.at)
  const seq = useConsole(store, shownSeq)
  const isErased = useConsole(store, (state) => state.isErased)
  const known = useConsole(store, isKnown)
  const [count, setCount] = useState(step)
  const place = useRef<HTMLDivElement>(null)
  // They are in the order of their seq, so a moment cuts the list.
  const told = at === null ? all.length : all.findLastIndex((message) => message.seq <= seq) + 1
  const first = Math.max(told - count, 0)
  const shown = useMemo(() => all.slice(first, told).map(itemOf), [all, first, told])
  const open = at === null ? drafts : []
  const newest = `${told} ${open.map(({ text }) => text.length).join(' ')}`
  const isAtEnd = useRef(true)
  useEffect(() => {
    if (isAtEnd.current && place.current !== null) place.current.scrollTop = place.current.scrollHeight
  }, [newest])
  const onScroll = ({ currentTarget: { scrollTop, clientHeight, scrollHeight } }: { currentTarget: HTMLElement }) => {
    isAtEnd.current = scrollTop + clientHeight > scrollHeight - 40
  }
  return (
    <section
      class="conversation"
      role="log"
      aria-label="Conversation"
      aria-live={at === null ? 'polite' : 'off'}
      ref={place}
      onScroll={onScroll}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
      tabIndex={0}
    >
      {first > 0 ? (
        <button type="button" onClick={() => setCount(count + step)}>
          Show earlier messages
        </button>
      ) : null}
      {told === 0 && open.length === 0 ? <p class="hint">{nothingTold(isErased, known)}</p> : null}
      <ol>
        {shown}
        {open.map((draft) => (
          <DraftItem key={draft.after} draft={draft} />
        ))}
      </ol>
    </section>
  )
}

function nothingTold(isErased: boolean, known: boolean): string {
  if (isErased) return 'What was said is erased.'
  return known ? 'Nothing was said yet.' : 'What was said is being read.'
}

/** A message does not change, so what was drawn for it once is drawn for it for ever. */
const items = new WeakMap<Message, VNode>()

function itemOf(message: Message): VNode {
  const known = items.get(message)
  if (known !== undefined) return known
  const item = <MessageItem key={message.id} message={message} />
  items.set(message, item)
  return item
}

function MessageItem({ message }: { message: Message }) {
  const { role, content, toolCalls = [], synthetic } = message
  const isFolded = role === 'tool' || content.length > 8 * longText
  return (
    <li class={`message message-${role}`} data-seq={message.seq}>
      <p class="role">
        {role}
        {synthetic === true ? <span class="hint"> written by the runtime</span> : null}
      </p>
      {isFolded ? <Folded text={content} /> : <p class="text">{content}</p>}
      {toolCalls.map(({ id, name, arguments: given }) => (
        <details key={id} class="asked">
          <summary>
            calls <b>{name}</b>
          </summary>
          <pre>{asJson(given)}</pre>
        </details>
      ))}
    </li>
  )
}

function Folded({ text }: { text: string }) {
  const [first = ''] = text.trim().split('\n')
  return (
    <details>
      <summary class="text">{first.length > 120 ? `${first.slice(0, 120)}…` : first}</summary>
      <pre class="text">{text}</pre>
    </details>
  )
}

function DraftItem({ draft }: { draft: Draft }) {
  const { text, reasoning, hasHole } = draft
  return (
    <li class="message message-assistant draft" aria-busy="true">
      <p class="role">
        assistant <span class="hint">{hasHole ? 'writing; some of it was not heard' : 'writing'}</span>
      </p>
      {reasoning === '' ? null : <p class="text hint">{reasoning}</p>}
      <p class="text">{text}</p>
    </li>
  )
}
