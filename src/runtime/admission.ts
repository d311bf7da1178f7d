import type { CallId, TaskId } from '../../machines/vocabulary.ts'
import { isAtLeast } from '../capabilities/catalog.ts'
import { needed } from './expand-messages.ts'
import { grantFor } from './grants.ts'
import type { Step } from './step.ts'

export type Verdict =
  | { readonly kind: 'refuse'; readonly code: string }
  | { readonly kind: 'confirm' }
  | { readonly kind: 'quarantine' }
  | { readonly kind: 'start' }

const refuse = (code: string): Verdict => ({ kind: 'refuse', code })

/**
 * The checks before an execution, in their fixed order, against the state of this very step; and all of them again after a
 * hold. Whoever adds one puts it where the documentation of the codes says.
 */
export function judgeCall(step: Step, task: TaskId, call: CallId): Verdict {
  const { world, host, desks, scope } = step.base
  const snapshot = world.tasks.get(task)
  if (snapshot === undefined || !snapshot.matches('running')) return refuse('TASK_NOT_RUNNING')
  const record = needed(world.callRecords.get(call), 'call record')
  if (record.ref === null) return refuse('CAPABILITY_NOT_LOADED')
  const entry = host.catalog.current(record.ref)
  if (entry === null) return refuse('STALE_CAPABILITY')
  if (step.base.control.isRevoked(record.ref.id)) return refuse('CAPABILITY_REVOKED')
  if (step.base.control.isDisabled(record.ref.provider)) return refuse('PROVIDER_DISABLED')
  const desk = needed(desks.get(task), 'desk')
  if (!desk.offer.loaded.has(record.name)) return refuse('CAPABILITY_NOT_LOADED')
  if (desk.problemOf(call, entry.tool, needed(step.base.bodies.arguments.get(call), 'arguments')) !== null)
    return refuse('INVALID_ARGUMENTS')
  const grant = needed(world.taskRecords.get(task), 'task record').grants[record.ref.id]
  const now = grantFor(host, { scope, task, capability: record.ref.id }, entry.tool)
  if (!isAtLeast(grant, 'execute') || !isAtLeast(now, 'execute')) return refuse('AUTHORIZATION_DENIED')
  const asked = needed(snapshot.context.calls[call], 'call of the batch')
  const confirmed =
    asked.approved ||
    grant?.confirm === 'none' ||
    (grant?.confirm === 'once' && record.name in snapshot.context.confirmed)
  if (!confirmed) return { kind: 'confirm' }
  const quarantined = (world.session?.context.quarantine.length ?? 0) > 0
  return quarantined && record.effect !== 'read' ? { kind: 'quarantine' } : { kind: 'start' }
}
