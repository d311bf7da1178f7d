import { useEffect, useRef, useState } from 'preact/hooks'
import type { SimulatedEvent } from '../simulator/play-event.ts'
import type { EventChoice } from '../simulator/simulate.ts'
import { ChoiceList } from './choice-list.tsx'
import { JsonForm } from './json-form.tsx'

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
  const offered = choices.map(({ label, leads, event }) => ({ label, leads, play: () => onEvent(event) }))
  const refused = offered.filter(({ leads }) => leads !== 'on')
  return (
    <section ref={list} aria-labelledby="events-title">
      <h2 id="events-title">Events</h2>
      {choices.length === 0 ? <p>{isOver ? 'Nothing more can happen.' : 'No active state names an event.'}</p> : null}
      <ChoiceList choices={offered.filter(({ leads }) => leads === 'on')} label="Events that are accepted now" />
      {refused.length === 0 ? null : <h3>Refused now</h3>}
      <ChoiceList choices={refused} label="Events that are refused now" />
      <OwnEvent onEvent={onEvent} />
    </section>
  )
}

const lacking = 'An event is a JSON object with a type.'

function OwnEvent({ onEvent }: Pick<Events, 'onEvent'>) {
  const [text, setText] = useState('{ "type": "" }')
  const send = (value: unknown): string | null => {
    if (!isEvent(value)) return lacking
    onEvent(value)
    return null
  }
  const form = { summary: 'Another event', label: 'As JSON', action: 'Send', lacking }
  return <JsonForm {...form} rows={4} text={text} onText={setText} onSend={send} />
}

function isEvent(value: unknown): value is SimulatedEvent {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false
  return typeof value.type === 'string' && value.type !== ''
}
