/**
 * INV-11 and INV-10 for capabilities: references, loads, activations, revocations, confirmations (page 3).
 *
 * Where the pages leave room: a level that means nothing for the kind is read as the highest one it includes; revocations are
 * judged by cursors, so only when the control stream was given too.
 */
import type { CapabilityRef, Grant } from '../../../../machines/vocabulary.ts'
import type { Judged, Rule } from '../rule.ts'
import { isDisabled, isRevoked } from '../store-view.ts'
import type { TaskView } from '../task-view.ts'

const fields = ['id', 'generation', 'contract', 'provider', 'binding'] as const

function used({ fact, call }: Judged): CapabilityRef | undefined {
  if (fact.type === 'call.started') return call?.ref
  return fact.type === 'capability.loaded' || fact.type === 'capability.activated' ? fact.data.ref : undefined
}

/** A reference is current when it is that of the task's snapshot; any mismatch is `STALE_CAPABILITY`. */
function current(task: TaskView, ref: CapabilityRef): boolean {
  const known = task.refs?.get(ref.id)
  return known !== undefined && fields.every((field) => known[field] === ref[field])
}

function references(judged: Judged): void {
  const { view, fact, task, report } = judged
  const ref = used(judged)
  if (ref === undefined || task === undefined || task.refs === null) return
  if (!current(task, ref)) report('INV-11', `${fact.type} with a reference that is not that of the snapshot`)
  // They override the snapshots of running tasks at once, in every process on the store.
  if (isRevoked(view.store, ref.id, fact.cursor)) report('INV-11', `${fact.type} of a revoked capability`)
  if (isDisabled(view.store, ref.provider, fact.cursor)) report('INV-11', `${fact.type} of a disabled provider`)
}

function mayUse(type: string, grant: Grant): boolean {
  if (grant.level === 'execute') return true
  return type === 'capability.loaded' ? grant.level === 'load' : grant.level === 'activate'
}

function levels({ fact, task, report }: Judged): void {
  if (task === undefined || (fact.type !== 'capability.loaded' && fact.type !== 'capability.activated')) return
  const grant = task.grants.get(fact.data.ref.id)
  if (grant !== undefined && !mayUse(fact.type, grant)) report('INV-11', `${fact.type} on a grant of ${grant.level}`)
  const skill = fact.data.ref.id.startsWith('skill:')
  if (skill !== (fact.type === 'capability.activated'))
    report('INV-11', `${fact.type} of ${skill ? 'a skill' : 'a tool'}`)
  if (task.state === 'pending') report('INV-11', `${fact.type} of a task that never started`)
}

/** A skill that the model activated leaves after one model step; what is released was active. */
function activations({ fact, task, report }: Judged): void {
  if (task === undefined) return
  if (
    fact.type === 'capability.released' &&
    fact.data.ref.id.startsWith('skill:') &&
    !task.skills.has(fact.data.ref.id)
  ) {
    report('INV-11', 'a skill is released that is not active')
  }
  if (fact.type !== 'model.requested' || fact.data.purpose !== 'turn') return
  for (const { scope, carried } of task.skills.values()) {
    if (scope === 'step' && carried !== null && carried !== fact.data.step)
      report('INV-11', 'a skill outlives its one step')
  }
}

/** Confirmation `once` is for one capability of one task: its first call needs one. */
function confirmed({ fact, task, call, report }: Judged): void {
  if (fact.type !== 'call.started' || task === undefined || call?.capability === undefined) return
  if (task.grants.get(call.capability)?.confirm !== 'once') return
  if (!call.approved && !task.confirmed.has(call.capability))
    report('INV-11', 'a capability is used before it is confirmed')
}

/** Absent effect: unknown name, then refused (page 6, `call.requested`). */
function unknownName({ fact, call, report }: Judged): void {
  if (fact.type === 'call.held' && call !== undefined && call.effect === undefined)
    report('INV-11', 'a call of an unknown name is held')
}

export const capabilitiesRule: Rule = {
  fact(judged) {
    references(judged)
    levels(judged)
    activations(judged)
    confirmed(judged)
    unknownName(judged)
  },
}
