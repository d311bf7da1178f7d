import { useEffect, useState } from 'preact/hooks'
import type { SimulatedStep } from '../simulator/play-event.ts'
import { JsonForm } from './json-form.tsx'
import { playedName, valueText } from './state-panel.tsx'

interface History {
  readonly steps: readonly SimulatedStep[]
  readonly input: unknown
  /** Back to where so many events had been played. */
  readonly onGo: (count: number) => void
  readonly onBegin: (input: unknown) => void
}

/** What was played, to go back in, and the input to begin with. */
export function HistoryList({ steps, input, onGo, onBegin }: History) {
  return (
    <section aria-labelledby="history-title">
      <h2 id="history-title">Played</h2>
      <ol class="history" start={0}>
        {steps.map((step, count) => (
          <li key={`${count} ${playedName(step)}`}>
            <button
              type="button"
              aria-current={count === steps.length - 1 ? 'step' : undefined}
              onClick={() => onGo(count)}
            >
              {step.event === undefined ? 'beginning' : playedName(step)}
              <span>{step.accepted ? valueText(step.value) : 'refused'}</span>
            </button>
          </li>
        ))}
      </ol>
      <Beginning input={input} onBegin={onBegin} />
    </section>
  )
}

function Beginning({ input, onBegin }: Pick<History, 'input' | 'onBegin'>) {
  const [text, setText] = useState('')
  useEffect(() => setText(JSON.stringify(input ?? null, null, 2)), [input])
  const send = (given: unknown): null => {
    onBegin(given)
    return null
  }
  const form = {
    summary: 'Begin with another input',
    label: 'As JSON',
    action: 'Begin',
    lacking: 'The input is no JSON.',
  }
  return <JsonForm {...form} rows={8} text={text} onText={setText} onSend={send} />
}
