import type { CommandReceipt } from '../simulator/command-receipt.ts'
import type { SimulatedStep } from '../simulator/play-event.ts'

/** Where the chart is, and what the last event did. */
export function StatePanel({ step, unbegun }: { step: SimulatedStep | null; unbegun: string | null }) {
  return (
    <section class="now" aria-labelledby="state-title">
      <h2 id="state-title">State</h2>
      <div aria-live="polite">{step === null ? <Unbegun why={unbegun} /> : <Now step={step} />}</div>
      {step === null ? null : (
        <details>
          <summary>Context</summary>
          <pre class="context">{JSON.stringify(step.context, null, 2)}</pre>
        </details>
      )}
    </section>
  )
}

/** Only whoever wrote the chart can tell whether an input would help. */
function Unbegun({ why }: { why: string | null }) {
  return (
    <>
      <p class="refused">{why}</p>
      <p>If it needs an input, give it one below.</p>
    </>
  )
}

function Now({ step }: { step: SimulatedStep }) {
  return (
    <>
      <p class="value">{valueText(step.value)}</p>
      {step.status === 'active' ? null : <p class="over">The chart has ended ({step.status}).</p>}
      {step.event === undefined ? null : <Happened step={step} />}
      {step.asked.length === 0 ? null : (
        <>
          <h3>Asked for</h3>
          <ul class="asked">
            {step.asked.map(({ type, params }, at) => (
              <li key={`${at} ${type}`}>
                <b>{type}</b>
                {params === null ? null : <code>{JSON.stringify(params)}</code>}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

function Happened({ step }: { step: SimulatedStep }) {
  if (step.receipt !== undefined) return <Answered step={step} receipt={step.receipt} />
  const type = step.event?.type
  if (step.error !== undefined) return <p class="refused">{`${type} led to an error: ${step.error}`}</p>
  return (
    <>
      <p class={step.accepted ? 'accepted' : 'refused'}>
        {step.accepted ? `${type} was accepted.` : `${type} was refused.`}
      </p>
      <Guards step={step} />
      {step.accepted || step.refused.length > 0 ? null : <p>No active state takes it.</p>}
    </>
  )
}

/** What the sender of a command is told, and the facts that it leads to. */
function Answered({ step, receipt }: { step: SimulatedStep; receipt: CommandReceipt }) {
  if (receipt.code !== null)
    return (
      <>
        <p class="refused">
          {`${receipt.command} was refused: `}
          <b>{receipt.code}</b>
        </p>
        <p class="advice">{receipt.message}</p>
        <Guards step={step} />
      </>
    )
  return (
    <>
      <p class="accepted">{`${receipt.command} was ${outcomes[receipt.result]}.`}</p>
      {receipt.drafted.length === 0 ? null : (
        <>
          <h3>Facts</h3>
          <ol class="drafted">
            {receipt.drafted.map((type, at) => (
              <li key={`${at} ${type}`}>{type}</li>
            ))}
          </ol>
        </>
      )}
    </>
  )
}

const outcomes = {
  applied: 'applied',
  queued: 'queued',
  joined: 'joined to what is under way',
  too_late: 'too late',
  duplicate: 'sent before',
  refused: 'refused',
} as const satisfies Record<CommandReceipt['result'], string>

function Guards({ step }: { step: SimulatedStep }) {
  if (step.refused.length === 0) return null
  return (
    <ul class="guards">
      {step.refused.map(({ edge, state, guard }) => (
        <li key={edge}>
          <b>{guard}</b> said no in {state}
        </li>
      ))}
    </ul>
  )
}

/** What a step is called: a command by its own name. */
export function playedName({ event, receipt }: SimulatedStep): string {
  return receipt?.command ?? event?.type ?? ''
}

/** `running.acting` is easier to read than an object; regions stand side by side. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([key, inner]) => {
      const text = valueText(inner)
      if (text === '') return key
      return text.includes(', ') ? `${key}(${text})` : `${key}.${text}`
    })
    .join(', ')
}
