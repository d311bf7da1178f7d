import { useEffect, useRef, useState } from 'preact/hooks'
import type { SimulatedEvent } from '../simulator/play-event.ts'
import type { EventChoice } from '../simulator/simulate.ts'

interface Events {
  readonly choices: readonly EventChoice[]
  readonly isOver: boolean
  readonly onEvent: (event: SimulatedEvent) => void
}

/** Events to play: those that lead on, then those that a guard refuses now, then whatever the reader writes. */
export function EventList({ choices, isOver, onEvent }: Events) {
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    // The button that was pressed may be gone; whoever uses the keyboard goes on at the first one.
    if (document.activeElement === document.body) list.current?.querySelector('button')?.focus()
  }, [choices])
  const on = choices.filter(({ leads }) => leads === 'on')
  const refused = choices.filter(({ leads }) => leads !== 'on')
  return (
    <section ref={list} aria-labelledby="events-title">
      <h2 id="events-title">Events</h2>
      {choices.length === 0 ? <p>{isOver ? 'Nothing more can happen.' : 'No active state names an event.'}</p> : null}
      <Buttons choices={on} label="Events that are accepted now" onEvent={onEvent} />
      {refused.length === 0 ? null : <h3>Refused now</h3>}
      <Buttons choices={refused} label="Events that are refused now" onEvent={onEvent} />
      <OwnEvent onEvent={onEvent} />
    </section>
  )
}

function Buttons({ choices, label, onEvent }: Omit<Events, 'isOver'> & { readonly label: string }) {
  if (choices.length === 0) return null
  return (
    <ul class="events" aria-label={label}>
      {choices.map((choice) => (
        <li key={choice.label}>
          <button type="button" class={`leads-${choice.leads}`} onClick={() => onEvent(choice.event)}>
            {choice.label}
          </button>
        </li>
      ))}
    </ul>
  )
}

function OwnEvent({ onEvent }: Pick<Events, 'onEvent'>) {
  const [text, setText] = useState('{ "type": "" }')
  const [problem, setProblem] = useState('')
  const send = (submitted: Event) => {
    submitted.preventDefault()
    const event = eventOf(text)
    setProblem(event === null ? 'An event is a JSON object with a type.' : '')
    if (event !== null) onEvent(event)
  }
  return (
    <details>
      <summary>Another event</summary>
      <form onSubmit={send}>
        <label>
          As JSON
          <textarea rows={4} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
        </label>
        <p role="alert">{problem}</p>
        <button type="submit">Send</button>
      </form>
    </details>
  )
}

function eventOf(text: string): SimulatedEvent | null {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('type' in value)) return null
    return typeof value.type === 'string' && value.type !== '' ? (value as SimulatedEvent) : null
  } catch {
    return null
  }
}
