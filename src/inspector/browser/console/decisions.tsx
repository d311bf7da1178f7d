import { useRef } from 'preact/hooks'
import type { ConsoleSession } from './console-session.ts'
import type { Pause } from './shapes.ts'
import { useConsole } from './use-console.ts'
import { useTyped } from './use-typed.ts'
import { asJson } from './words.ts'

const titles: Readonly<Record<string, string>> = {
  approval: 'Approval',
  authorization: 'Sign-in',
  input: 'Question',
  operator: 'Paused by an operator',
  external: 'Waits for something outside',
  acknowledgement: 'Waits for an acknowledgement',
}

export function titleOf({ reason, subject }: Pause): string {
  const name = subject?.name
  return `${titles[reason] ?? reason}${name === undefined ? '' : `: ${name}`}`
}

/** What waits for the reader. Only the present can be decided. */
export function Decisions({ desk }: { desk: ConsoleSession }) {
  const pauses = useConsole(desk.store, (state) => state.pauses)
  const isLive = useConsole(desk.store, ({ at }) => at === null)
  if (pauses.length === 0 || !isLive) return null
  return (
    <section class="decisions" aria-label="Waiting for a decision">
      {pauses.map((pause) => (
        <Decision key={pause.token} desk={desk} pause={pause} />
      ))}
    </section>
  )
}

function Decision({ desk, pause }: { desk: ConsoleSession; pause: Pause }) {
  const { reason, subject } = pause
  const name = subject?.name
  return (
    <article class="decision" aria-label={titleOf(pause)}>
      <h3>
        {titles[reason] ?? reason}
        {name === undefined || reason === 'input' ? null : (
          <>
            : <b>{name}</b>
          </>
        )}
        {subject?.effect == null ? null : <span class="mark">{subject.effect}</span>}
      </h3>
      {subject?.text === undefined ? null : <p class="text">{subject.text}</p>}
      {subject?.arguments == null || reason === 'input' ? null : <pre>{asJson(subject.arguments)}</pre>}
      {pause.deadline === undefined ? null : <p class="hint">until {new Date(pause.deadline).toLocaleString()}</p>}
      {reason === 'input' ? <Answer desk={desk} pause={pause} /> : <Choices desk={desk} pause={pause} />}
    </article>
  )
}

function Choices({ desk, pause }: { desk: ConsoleSession; pause: Pause }) {
  const { reason, token, task, call } = pause
  const isDecided = useRef(false)
  // What is decided stays in sight until the list is read again; another click on it is none.
  const decide = async (decision: string, path: string, body: object) => {
    if (isDecided.current) return
    if (await desk.act(`Decision (${decision})`, path, { ...body, decision })) isDecided.current = true
  }
  const settle = (decision: string) => () =>
    void decide(decision, `tasks/${encodeURIComponent(task)}/resume`, { token })
  const confirm = (decision: 'allow' | 'deny') => () =>
    void decide(decision, `calls/${encodeURIComponent(call ?? '')}/confirm`, { confirmation: token })
  const isApproval = reason === 'approval'
  const isOther = reason === 'authorization' || reason === 'external'
  return (
    <p class="buttons">
      {isApproval ? (
        <>
          <button type="button" class="main" onClick={call === undefined ? settle('approve') : confirm('allow')}>
            Allow
          </button>
          <button type="button" onClick={call === undefined ? settle('reject') : confirm('deny')}>
            Deny
          </button>
        </>
      ) : (
        <>
          <button type="button" class="main" onClick={settle('resume')}>
            Resume
          </button>
          {isOther ? (
            <button type="button" onClick={settle('reject')}>
              Reject
            </button>
          ) : null}
        </>
      )}
    </p>
  )
}

function Answer({ desk, pause }: { desk: ConsoleSession; pause: Pause }) {
  const { token, task } = pause
  const { text, type, wasSent } = useTyped(desk, `answer ${token}`)
  const path = `tasks/${encodeURIComponent(task)}/resume`
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    if (await desk.act('Answer', path, { token, decision: 'resume', input: text })) wasSent(text)
  }
  return (
    <form onSubmit={(event) => void onSubmit(event)}>
      <label>
        Your answer
        <textarea rows={2} value={text} onInput={({ currentTarget }) => type(currentTarget.value)} />
      </label>
      <p class="buttons">
        <button type="submit" class="main">
          Answer
        </button>
        <button type="button" onClick={() => void desk.act('Reject', path, { token, decision: 'reject' })}>
          Reject
        </button>
      </p>
    </form>
  )
}
