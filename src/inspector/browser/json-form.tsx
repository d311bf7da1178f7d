import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface JsonForm {
  readonly summary: string
  readonly label: string
  readonly action: string
  readonly rows: number
  readonly text: string
  readonly onText: (text: string) => void
  /** Takes what was written, or says what it lacks. */
  readonly onSend: (value: unknown) => string | null
  /** Said of what is no JSON. */
  readonly lacking: string
  readonly children?: ComponentChildren
}

/** Something that the reader writes as JSON. */
export function JsonForm({ summary, label, action, rows, text, onText, onSend, lacking, children }: JsonForm) {
  const [problem, setProblem] = useState('')
  const send = (submitted: Event) => {
    submitted.preventDefault()
    const read = parsed(text)
    setProblem(('problem' in read ? `${lacking} ${read.problem}` : onSend(read.value)) ?? '')
  }
  return (
    <details>
      <summary>{summary}</summary>
      <form onSubmit={send}>
        {children}
        <label>
          {label}
          <textarea rows={rows} value={text} onInput={({ currentTarget }) => onText(currentTarget.value)} />
        </label>
        <p role="alert">{problem}</p>
        <button type="submit">{action}</button>
      </form>
    </details>
  )
}

function parsed(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : '' }
  }
}
