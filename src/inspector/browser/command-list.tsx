import { useState } from 'preact/hooks'
import { type CommandChoice, commandType } from '../simulator/command-receipt.ts'
import type { SimulatedEvent } from '../simulator/play-event.ts'
import { type Choice, ChoiceList } from './choice-list.tsx'
import { JsonForm } from './json-form.tsx'

interface Commands {
  /** The fact with which a runtime goes on before it takes a command. */
  readonly due: string | null
  readonly choices: readonly CommandChoice[]
  readonly onEvent: (event: SimulatedEvent) => void
}

/** Commands of an operator to try: those that would be accepted, then those that would be refused now and with which code. */
export function CommandList({ choices, due, onEvent }: Commands) {
  if (choices.length === 0) return null
  const offered = choices.map((choice) => choiceOf(choice, onEvent))
  const refused = offered.filter(({ leads }) => leads === 'nowhere')
  return (
    <section aria-labelledby="commands-title">
      <h2 id="commands-title">Commands</h2>
      <p class="hint">
        {due === null
          ? 'A command is carried out whole, as by a runtime. What a fact leads to in this chart is yours to play.'
          : `A runtime goes on with ${due} in the same step. Play it, and commands arrive.`}
      </p>
      <ChoiceList choices={offered.filter(({ leads }) => leads === 'on')} label="Commands that are accepted now" />
      {refused.length === 0 ? null : <h3>Refused now</h3>}
      <ChoiceList choices={refused} label="Commands that are refused now" />
      <OwnCommand choices={choices} onEvent={onEvent} />
    </section>
  )
}

function choiceOf({ label, command, refused }: CommandChoice, onEvent: Commands['onEvent']): Choice {
  const play = () => onEvent({ type: commandType, command })
  return refused === null ? { label, leads: 'on', play } : { label, leads: 'nowhere', why: refused, play }
}

const lacking = 'A command is a JSON object with a name.'

/** An example to begin with, whose words the reader may change. */
function OwnCommand({ choices, onEvent }: Omit<Commands, 'due'>) {
  const [text, setText] = useState('')
  const begin = (label: string) => {
    const example = choices.find((choice) => choice.label === label)
    setText(example === undefined ? '' : JSON.stringify(example.command, null, 2))
  }
  const send = (command: unknown): string | null => {
    if (typeof command !== 'object' || command === null || !('name' in command)) return lacking
    onEvent({ type: commandType, command })
    return null
  }
  const form = { summary: 'Another command', label: 'The command as JSON', action: 'Send the command', lacking }
  return (
    <JsonForm {...form} rows={6} text={text} onText={setText} onSend={send}>
      <label>
        Example
        <select value="" onChange={({ currentTarget }) => begin(currentTarget.value)}>
          <option value="">Choose one</option>
          {choices.map(({ label }) => (
            <option key={label}>{label}</option>
          ))}
        </select>
      </label>
    </JsonForm>
  )
}
