import { useState } from 'preact/hooks'
import type { ConsoleSession } from './console-session.ts'
import { useConsole } from './use-console.ts'

type Action = 'start' | 'steer' | 'interrupt' | 'follow_up' | 'follow_up_success' | 'supersede'

const working: readonly (readonly [Action, string, string])[] = [
  ['steer', 'Steer', 'joins the turn at its next step'],
  ['interrupt', 'Interrupt', 'joins at once, and the answer under way is given up'],
  ['follow_up', 'Follow up', 'is the next turn'],
  ['follow_up_success', 'Follow up if it completes', 'is the next turn, and waits if this one does not complete'],
  ['supersede', 'Supersede', 'takes the place of this turn'],
]

/** Says something to the session: the actions that fit what it does now. */
export function Composer({ desk }: { desk: ConsoleSession }) {
  const { store } = desk
  const isLive = useConsole(store, ({ at }) => at === null)
  const live = useConsole(store, (state) => state.live)
  const [text, setText] = useState('')
  const [wanted, setWanted] = useState<Action>('steer')
  const active = live?.tasks.find(({ kind, state }) => kind === 'foreground' && underWay.has(state))
  const isEnding = active?.state === 'cancelling' || active?.state === 'quiescing'
  const choices = isEnding ? working.filter(([action]) => action.startsWith('follow_up')) : working
  const action: Action =
    active === undefined ? 'start' : choices.some(([name]) => name === wanted) ? wanted : (choices[0]?.[0] ?? 'start')
  if (!isLive)
    return (
      <p class="past-note">
        This is the past.{' '}
        <button type="button" onClick={() => store.trigger.look({ at: null })}>
          Back to live
        </button>{' '}
        to say something.
      </p>
    )
  const send = async () => {
    if (text.trim() === '') return
    const { path, body, words } = commandOf(action, text, active?.id ?? '')
    if (await desk.act(words, path, body)) setText('')
  }
  return (
    <form
      class="composer"
      aria-label="Say something"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {active === undefined ? null : <Actions choices={choices} action={action} onAction={setWanted} />}
      <label class="sr-only" for="input">
        Message
      </label>
      <textarea
        id="input"
        rows={3}
        value={text}
        placeholder={active === undefined ? 'What should be done?' : 'What should it know?'}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          void send()
        }}
      />
      <p class="buttons">
        <button type="submit" class="main">
          {active === undefined ? 'Start' : 'Send'}
        </button>
        <TurnButtons desk={desk} task={active?.id} state={active?.state} />
        <span class="hint">Enter sends, Shift+Enter is a new line.</span>
      </p>
    </form>
  )
}

const underWay = new Set(['running', 'paused', 'cancelling', 'quiescing'])

interface ActionsOf {
  readonly choices: typeof working
  readonly action: Action
  readonly onAction: (action: Action) => void
}

function Actions({ choices, action, onAction }: ActionsOf) {
  return (
    <fieldset class="choice">
      <legend class="sr-only">What the message is for</legend>
      {choices.map(([name, label, told]) => (
        <label key={name} title={told}>
          <input type="radio" name="action" checked={action === name} onChange={() => onAction(name)} />
          {label}
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

interface CommandOf {
  readonly path: string
  readonly body: object
  readonly words: string
}

function commandOf(action: Action, input: string, task: string): CommandOf {
  const steer = `tasks/${encodeURIComponent(task)}/steer`
  switch (action) {
    case 'steer':
      return { path: steer, body: { input }, words: 'Steer' }
    case 'interrupt':
      return { path: steer, body: { input, mode: 'interrupt' }, words: 'Interrupt' }
    case 'follow_up':
      return { path: 'tasks', body: { action, input }, words: 'Follow up' }
    case 'follow_up_success':
      return { path: 'tasks', body: { action: 'follow_up', input, requires: 'success' }, words: 'Follow up' }
    case 'supersede':
      return { path: 'tasks', body: { action, input }, words: 'Supersede' }
    case 'start':
      return { path: 'tasks', body: { action, input }, words: 'Start' }
  }
}
