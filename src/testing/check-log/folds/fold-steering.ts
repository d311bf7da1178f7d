import type { StoredFact } from '../../../facts/envelope.ts'
import type { SessionView } from '../session-view.ts'

export function foldSteering(view: SessionView, fact: StoredFact): void {
  switch (fact.type) {
    case 'steering.queued':
      if (fact.task === null) return
      view.steering.push({ message: fact.data.message, mode: fact.data.mode, owner: fact.task, orphaned: false })
      if (fact.data.mode === 'interrupt') view.step.interrupts.set(fact.task, fact.seq)
      return
    case 'steering.applied': {
      if (fact.task === null) return
      const messages = new Set(fact.data.messages)
      view.steering = view.steering.filter((steer) => !messages.has(steer.message))
      view.step.applied.push({ task: fact.task, seq: fact.seq, unsaid: [...messages], requested: false })
      return
    }
    case 'steering.inherited': {
      if (fact.task === null) return
      const messages = new Set(fact.data.messages)
      for (const steer of view.steering) {
        if (!messages.has(steer.message)) continue
        steer.owner = fact.task
        steer.orphaned = false
      }
      return
    }
    case 'steering.expired': {
      const messages = new Set(fact.data.messages)
      for (const { message, owner } of view.steering) {
        if (messages.has(message)) view.step.expired.push({ message, owner, seq: fact.seq })
      }
      view.steering = view.steering.filter((steer) => !messages.has(steer.message))
      return
    }
    default:
      return
  }
}
