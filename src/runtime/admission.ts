import { isAtLeast, stricterConfirm } from '../../machines/grant-order.ts'
import type { CallId, Confirm, Grant, JsonObject, TaskId } from '../../machines/vocabulary.ts'
import type { ToolEntry } from '../capabilities/catalog.ts'
import { needed } from './expand-messages.ts'
import { grantFor } from './grants.ts'
import type { PolicyQuestion } from './options.ts'
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
  const { world, host, desks, control } = step.base
  const snapshot = world.tasks.get(task)
  if (snapshot === undefined || !snapshot.matches('running')) return refuse('TASK_NOT_RUNNING')
  const record = needed(world.callRecords.get(call), 'call record')
  if (record.ref === null) return refuse('CAPABILITY_NOT_LOADED')
  const entry = host.catalog.current(record.ref)
  if (entry === null) return refuse('STALE_CAPABILITY')
  if (control.isRevoked(record.ref.id)) return refuse('CAPABILITY_REVOKED')
  if (control.isDisabled(record.ref.provider)) return refuse('PROVIDER_DISABLED')
  const desk = needed(desks.get(task), 'desk')
  const owner = needed(world.taskRecords.get(task), 'task record')
  if (entry.kind === 'skill')
    return refuse(
      owner.active.some(({ id }) => id === entry.ref.id) ? 'CAPABILITY_NOT_EXECUTABLE' : 'CAPABILITY_NOT_LOADED',
    )
  if (!desk.offer.loaded.has(record.name)) return refuse('CAPABILITY_NOT_LOADED')
  const args = needed(step.base.bodies.arguments.get(call), 'arguments')
  if (desk.problemOf(call, entry.tool, args) !== null) return refuse('INVALID_ARGUMENTS')
  const grant = owner.grants[entry.ref.id]
  const now = grantNow(step, task, entry, args)
  if (grant === undefined || !isAtLeast(grant, 'execute') || !isAtLeast(now, 'execute'))
    return refuse('AUTHORIZATION_DENIED')
  const asked = needed(snapshot.context.calls[call], 'call of the batch')
  const confirm = stricterConfirm(grant.confirm, now.confirm)
  if (!asked.approved && !isConfirmed(confirm, Object.hasOwn(snapshot.context.confirmed, record.name)))
    return { kind: 'confirm' }
  const quarantined = (world.session?.context.quarantine.length ?? 0) > 0
  return quarantined && record.effect !== 'read' ? { kind: 'quarantine' } : { kind: 'start' }
}

function isConfirmed(confirm: Confirm, once: boolean): boolean {
  return confirm === 'none' || (confirm === 'once' && once)
}

/** The policy judges the arguments too, where the tool says what they are about; what breaks on the way denies. */
function grantNow(step: Step, task: TaskId, entry: ToolEntry, args: JsonObject): Grant {
  const { host, scope } = step.base
  const question: PolicyQuestion = { scope, task, capability: entry.ref.id }
  const { tool } = entry
  if (tool.subject === undefined || host.policy === null) return grantFor(host, question, entry)
  try {
    return grantFor(host, { ...question, subject: tool.subject(args) }, entry)
  } catch {
    return { level: 'none', confirm: 'none' }
  }
}
