import { useRef } from 'preact/hooks'
import type { ConsoleSession } from './console-session.ts'
import { type Action, chosen, doubt, meant, nothing, offered, type Turn, typed } from './unsent.ts'
import { useConsole } from './use-console.ts'

const box = 'message'

const labels: Readonly<Record<Action, readonly [string, string]>> = {
  start: ['As a new turn', 'begins now'],
  steer: ['Steer', 'joins the turn at its next step'],
  interrupt: ['Interrupt', 'joins at once, and the answer under way is given up'],
  follow_up: ['Follow up', 'is the next turn'],
  follow_up_success: ['Follow up if it completes', 'is the next turn, and waits if this one does not complete'],
  supersede: ['Supersede', 'takes the place of this turn'],
}

/** Says something to the session: the actions that fit what it does now. */
export function Composer({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const isLive = useConsole(store, ({ at }) => at === null)
  const live = useConsole(store, (state) => state.live)
  const isErased = useConsole(store, (state) => state.isErased)
  const turn = live?.tasks.find(({ kind, state }) => kind === 'foreground' && underWay.has(state))
  if (isErased) return <p class="past-note">This session is erased: it takes nothing any more.</p>
  if (isLive) return <MessageForm desk={desk} turn={turn} />
  return (
    <p class="past-note">
      This is the past.{' '}
      <button type="button" onClick={() => store.trigger.look({ at: null })}>
        Back to live
      </button>{' '}
      to say something.
    </p>
  )
}

function MessageForm({ desk, turn }: { desk: ConsoleSession; turn: Turn | undefined }) {
  const { store } = desk
  const form = useRef<HTMLFormElement>(null)
  const key = useConsole(store, () => desk.boxKey(box))
  const unsent = useConsole(store, (state) => state.unsent[key] ?? nothing)
  const action = meant(unsent, turn)
  const isUnclear = action === null
  const onAction = (next: Action) => {
    store.trigger.write({ key, unsent: chosen(unsent, next, turn) })
    // Without a turn the choice is gone with this, and the keyboard goes on in the box.
    if (turn === undefined) form.current?.querySelector('textarea')?.focus()
  }
  const onSubmit = (event: Event) => {
    event.preventDefault()
    // Read anew: a second key comes before the page is drawn again.
    const now = store.getSnapshot().context.unsent[key] ?? nothing
    if (now.text.trim() === '' || now.sending !== null) return
    const means = meant(now, turn)
    if (means === null) form.current?.querySelector<HTMLInputElement>('[name=action]')?.focus()
    else void desk.sendBox(box, sentAs[means], commandOf(means, now.text, turn?.id ?? ''))
  }
  return (
    <form class="composer" aria-label="Say something" ref={form} onSubmit={onSubmit}>
      {turn === undefined && !isUnclear ? null : (
        <Actions choices={offered(turn)} action={action} onAction={onAction} />
      )}
      <p class="unclear" role="status">
        {isUnclear ? doubt(unsent, turn) : ''}
      </p>
      <label class="sr-only" for="input">
        Message
      </label>
      <textarea
        id="input"
        rows={3}
        value={unsent.text}
        placeholder={turn === undefined ? 'What should be done?' : 'What should it know?'}
        onInput={({ currentTarget }) =>
          store.trigger.write({
            key,
            unsent: typed(store.getSnapshot().context.unsent[key] ?? nothing, currentTarget.value, turn),
          })
        }
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          onSubmit(event)
        }}
      />
      <p class="buttons">
        <button type="submit" class="main">
          {turn === undefined && !isUnclear ? 'Start' : 'Send'}
        </button>
        <TurnButtons desk={desk} task={turn?.id} state={turn?.state} />
        <span class="hint">
          {unsent.sending === null ? 'Enter sends, Shift+Enter is a new line.' : 'A message is on its way.'}
        </span>
      </p>
    </form>
  )
}

const underWay = new Set(['running', 'paused', 'cancelling', 'quiescing'])

interface ActionsOf {
  readonly choices: readonly Action[]
  readonly action: Action | null
  readonly onAction: (action: Action) => void
}

function Actions({ choices, action, onAction }: ActionsOf) {
  return (
    <fieldset class="choice">
      <legend class="sr-only">What the message is for</legend>
      {choices.map((name) => (
        <label key={name} title={labels[name][1]}>
          <input type="radio" name="action" checked={action === name} onChange={() => onAction(name)} />
          {labels[name][0]}
        </label>
      ))}
    </fieldset>
  )
}

interface TurnOf {
  readonly desk: ConsoleSession
  readonly task: string | undefined
  readonly state: string | undefined
}

function TurnButtons({ desk, task, state }: TurnOf) {
  if (task === undefined) return null
  const path = `tasks/${encodeURIComponent(task)}`
  return (
    <>
      {state === 'running' ? (
        <button type="button" onClick={() => void desk.act('Pause', `${path}/pause`)}>
          Pause
        </button>
      ) : null}
      {state === 'running' || state === 'paused' ? (
        <button type="button" class="danger" onClick={() => void desk.act('Cancel', `${path}/cancel`)}>
          Cancel turn
        </button>
      ) : null}
    </>
  )
}

const sentAs: Readonly<Record<Action, string>> = {
  start: 'Start',
  steer: 'Steer',
  interrupt: 'Interrupt',
  follow_up: 'Follow up',
  follow_up_success: 'Follow up',
  supersede: 'Supersede',
}

function commandOf(action: Action, input: string, task: string): { path: string; body: object } {
  const steer = `tasks/${encodeURIComponent(task)}/steer`
  switch (action) {
    case 'steer':
      return { path: steer, body: { input } }
    case 'interrupt':
      return { path: steer, body: { input, mode: 'interrupt' } }
    case 'follow_up_success':
      return { path: 'tasks', body: { action: 'follow_up', input, requires: 'success' } }
    default:
      return { path: 'tasks', body: { action, input } }
  }
}
