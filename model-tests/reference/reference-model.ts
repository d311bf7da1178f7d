import { cancelGroup, group, seal, spawn } from './background.ts'
import { close, erase, reopen } from './closing.ts'
import { acknowledge, type Command, cancel, followUp, release, start, steer, supersede } from './commands.ts'
import { answer, crash, deadline, grace, outcome, refused, type WorldEvent } from './events.ts'
import { isRefusal, type Model, refuse, type Verdict } from './model.ts'
import { pause, resume } from './pausing.ts'
import { settle } from './scheduling.ts'

export interface Applied {
  /** The model after the step; the one that was given when it is refused. */
  readonly model: Model
  readonly verdict: Verdict
}

const needsOpen: ReadonlySet<string> = new Set([
  'start',
  'steer',
  'followUp',
  'supersede',
  'unblock',
  'replace',
  'pause',
  'resume',
  'spawn',
  'group',
])

/** Refused for a session, before anything else is looked at. A closed session takes reopen, erase and acknowledge. */
function gate(model: Model, type: string): Verdict | undefined {
  if (type === 'grace' || type === 'crash') return undefined
  if (model.lifecycle === 'erased') return refuse('SESSION_ERASED')
  if (model.lifecycle === 'open') return undefined
  if (needsOpen.has(type)) return refuse('SESSION_CLOSED')
  return undefined
}

function decide(model: Model, input: Command | WorldEvent): Verdict {
  switch (input.type) {
    case 'start':
      return start(model, input)
    case 'steer':
      return steer(model, input)
    case 'followUp':
      return followUp(model, input)
    case 'supersede':
      return supersede(model, input)
    case 'cancel':
      return cancel(model, input)
    case 'unblock':
    case 'replace':
      return release(model, input)
    case 'acknowledge':
      return acknowledge(model, input)
    case 'pause':
      return pause(model)
    case 'resume':
      return resume(model, input.decision)
    case 'close':
      return close(model, input.cancel === true)
    case 'erase':
      return erase(model, input.cancel === true)
    case 'reopen':
      return reopen(model)
    case 'answer':
      return answer(model, input)
    case 'outcome':
      return outcome(model, input)
    case 'grace':
      return grace(model)
    case 'spawn':
      return spawn(model, input)
    case 'group':
      return group(model, input)
    case 'seal':
      return seal(model, input)
    case 'cancelGroup':
      return cancelGroup(model, input)
    case 'refused':
      return refused(model, input)
    case 'deadline':
      return deadline(model, input)
    case 'crash':
      return crash(model)
  }
}

/** One step: the command or event and everything that follows of necessity. The model given is not changed. */
export function apply(model: Model, input: Command | WorldEvent): Applied {
  const next = structuredClone(model)
  const verdict = gate(next, input.type) ?? decide(next, input)
  if (isRefusal(verdict)) return { model, verdict }
  settle(next)
  return { model: next, verdict }
}
