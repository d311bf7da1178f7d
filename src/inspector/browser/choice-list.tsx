export interface Choice {
  readonly label: string
  /** What would come of it now. */
  readonly leads: 'on' | 'nowhere' | 'error'
  /** Why it leads nowhere, where that is known. */
  readonly why?: string
  readonly play: () => void
}

/** Buttons for what can be played, below the words for all of them. */
export function ChoiceList({ choices, label }: { readonly choices: readonly Choice[]; readonly label: string }) {
  if (choices.length === 0) return null
  return (
    <ul class="events" aria-label={label}>
      {choices.map((choice) => (
        <li key={choice.label}>
          <button type="button" class={`leads-${choice.leads}`} title={choice.why ?? ''} onClick={choice.play}>
            {choice.label}
          </button>
        </li>
      ))}
    </ul>
  )
}
