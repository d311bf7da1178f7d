import type { SimulatedStep } from '../simulator/simulate.ts'

/** Where the chart is, and what the last event did. */
export function StatePanel({ step }: { step: SimulatedStep | null }) {
  return (
    <section class="now" aria-labelledby="state-title">
      <h2 id="state-title">State</h2>
      <div aria-live="polite">
        {step === null ? <p>The chart cannot begin yet: give it an input below.</p> : <Now step={step} />}
      </div>
      {step === null ? null : (
        <details>
          <summary>Context</summary>
          <pre class="context">{JSON.stringify(step.context, null, 2)}</pre>
        </details>
      )}
    </section>
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
  const type = step.event?.type
  if (step.error !== undefined) return <p class="refused">{`${type} led to an error: ${step.error}`}</p>
  return (
    <>
      <p class={step.accepted ? 'accepted' : 'refused'}>
        {step.accepted ? `${type} was accepted.` : `${type} was refused.`}
      </p>
      {step.refused.length === 0 ? null : (
        <ul class="guards">
          {step.refused.map(({ edge, state, guard }) => (
            <li key={edge}>
              <b>{guard}</b> said no in {state}
            </li>
          ))}
        </ul>
      )}
      {step.accepted || step.refused.length > 0 ? null : <p>No active state takes it.</p>}
    </>
  )
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
