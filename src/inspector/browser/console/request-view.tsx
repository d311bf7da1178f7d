import { sessionPath } from './api.ts'
import type { ConsoleSession } from './console-session.ts'
import type { Fact } from './shapes.ts'
import { useReading } from './use-reading.ts'
import { asJson, plural } from './words.ts'

interface ModelRequest {
  readonly system: string
  readonly purpose: string
  readonly turn: number
  readonly step: number
  readonly maxOutput: number
  readonly messages: readonly { readonly role: string; readonly content: string; readonly toolCalls?: unknown }[]
  readonly tools: readonly { readonly name: string; readonly description?: string }[]
}

/** seq of the newest request up to a moment. */
export function requestSeqAt(facts: readonly Fact[], at: number): number | null {
  for (let index = Math.min(at, facts.length) - 1; index >= 0; index -= 1) {
    const fact = facts[index]
    if (fact?.type === 'model.requested') return fact.seq
  }
  return null
}

/** The request as it was sent, rebuilt by the server from facts and content. */
export function RequestView({ desk, seq }: { desk: ConsoleSession; seq: number | null }) {
  const session = desk.store.getSnapshot().context.session ?? ''
  const found = useReading(seq === null ? null : `${session} ${seq}`, (signal) =>
    desk.api.get<ModelRequest>(`${sessionPath(session)}/request?seq=${seq}`, signal),
  )
  if (seq === null) return <p class="hint">None was sent yet.</p>
  if (found.key !== `${session} ${seq}`) return <p class="hint">The request of fact {seq} is being read.</p>
  if (found.value === null) return <p class="hint">{found.problem}</p>
  return <Request seq={seq} request={found.value} />
}

function Request({ seq, request }: { seq: number; request: ModelRequest }) {
  const { purpose, turn, step, maxOutput, system, messages, tools } = request
  return (
    <div class="request" data-request={seq}>
      <p class="hint">
        Fact {seq}: {purpose} {turn}, step {step}, at most {maxOutput} tokens out, {plural(messages.length, 'message')},{' '}
        {plural(tools.length, 'tool')}
      </p>
      {system === '' ? null : (
        <details>
          <summary>System</summary>
          <p class="text">{system}</p>
        </details>
      )}
      <details>
        <summary>Tools: {tools.length === 0 ? 'none' : tools.map(({ name }) => name).join(', ')}</summary>
        <pre>{asJson(tools)}</pre>
      </details>
      <ol>
        {messages.map(({ role, content, toolCalls }, index) => (
          <li key={`${index} ${role}`}>
            <span class="role">{role}</span>
            <p class="text">{content}</p>
            {toolCalls === undefined ? null : <pre>{asJson(toolCalls)}</pre>}
          </li>
        ))}
      </ol>
    </div>
  )
}
