import { useState } from 'preact/hooks'
import { type CommandChoice, commandType } from '../simulator/command-receipt.ts'
import type { SimulatedEvent } from '../simulator/play-event.ts'

interface Commands {
  readonly choices: readonly CommandChoice[]
  readonly onEvent: (event: SimulatedEvent) => void
}

/** Commands of an operator to try: those that would be accepted, then those that would be refused now and with which code. */
export function CommandList({ choices, onEvent }: Commands) {
  if (choices.length === 0) return null
  const accepted = choices.filter(({ refused }) => refused === null)
  const refused = choices.filter((choice) => choice.refused !== null)
  const send = (command: object) => onEvent({ type: commandType, command })
  return (
    <section aria-labelledby="commands-title">
      <h2 id="commands-title">Commands</h2>
      <Buttons choices={accepted} label="Commands that are accepted now" onSend={send} />
      {refused.length === 0 ? null : <h3>Refused now</h3>}
      <Buttons choices={refused} label="Commands that are refused now" onSend={send} />
      <OwnCommand choices={choices} onSend={send} />
    </section>
  )
}

interface Sending {
  readonly onSend: (command: object) => void
}

function Buttons({ choices, label, onSend }: Sending & Pick<Commands, 'choices'> & { readonly label: string }) {
  if (choices.length === 0) return null
  return (
    <ul class="events" aria-label={label}>
      {choices.map((choice) => (
        <li key={choice.label}>
          <button
            type="button"
            class={choice.refused === null ? 'leads-on' : 'leads-nowhere'}
            title={choice.refused ?? ''}
            onClick={() => onSend(choice.command)}
          >
            {choice.label}
          </button>
        </li>
      ))}
    </ul>
  )
}

/** An example to begin with, whose words the reader may change. */
function OwnCommand({ choices, onSend }: Sending & Pick<Commands, 'choices'>) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState('')
  const send = (submitted: Event) => {
    submitted.preventDefault()
    const command = commandOf(text)
    setProblem(command === null ? 'A command is a JSON object with a name.' : '')
    if (command !== null) onSend(command)
  }
  const begin = (label: string) => {
    const example = choices.find((choice) => choice.label === label)
    setText(example === undefined ? '' : JSON.stringify(example.command, null, 2))
  }
  return (
    <details>
      <summary>Another command</summary>
      <form onSubmit={send}>
        <label>
          Example
          <select value="" onChange={({ currentTarget }) => begin(currentTarget.value)}>
            <option value="">Choose one</option>
            {choices.map(({ label }) => (
              <option key={label}>{label}</option>
            ))}
          </select>
        </label>
        <label>
          The command as JSON
          <textarea rows={6} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
        </label>
        <p role="alert">{problem}</p>
        <button type="submit">Send the command</button>
      </form>
    </details>
  )
}

function commandOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'name' in value ? value : null
  } catch {
    return null
  }
}
