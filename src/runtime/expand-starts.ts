import type { AgendaItem } from '../../machines/agenda.ts'
import { isAtLeast, narrowerGrant } from '../../machines/grant-order.ts'
import { nextToStart } from '../../machines/session-context.ts'
import type { CapabilityRef, Effect, Grant, JsonObject, TaskId } from '../../machines/vocabulary.ts'
import type { TaskRecord } from '../../machines/world.ts'
import type { CatalogEntry } from '../capabilities/catalog.ts'
import { parseSnapshot } from '../capabilities/catalog-snapshot.ts'
import { handOffNote } from '../context/hand-off.ts'
import { buildDesk, systemOf } from './desk-builder.ts'
import { coreToolProblem, operatorSkills } from './equip-start.ts'
import { added, needed } from './expand-messages.ts'
import { offerResults } from './expand-offers.ts'
import { grantFor } from './grants.ts'
import type { Step } from './step.ts'
import { boundOf } from './task-bound.ts'

/** The replacement in the slot, or the head of the queue when it is not blocked. */
export function startNext(step: Step): readonly AgendaItem[] {
  const session = step.world.session?.context
  const next = session === undefined ? null : nextToStart(session)
  return next === null || step.base.closing ? [] : [{ ask: 'startTask', task: next }]
}

/** Freezes what the task may use: catalog, grants, model, settings. The facts carry what is needed to rebuild it. */
export function startTask(step: Step, task: TaskId): readonly AgendaItem[] {
  const { host } = step.base
  const record = step.world.taskRecords.get(task)
  if (record === undefined) return []
  const grants: Record<string, Grant> = {}
  const refs: CapabilityRef[] = []
  for (const entry of host.catalog.entries()) {
    const grant = grantOf(step, record, entry)
    if (grant.level === 'none' || isWithdrawn(step, entry)) continue
    grants[entry.ref.id] = grant
    refs.push(entry.ref)
  }
  const system = systemOf(step.base, record)
  const settings: JsonObject = { ...host.settings, ...record.created.settings }
  const note = handOff(step, record, grants)
  const catalog = shareCatalog(step)
  if (system !== null) step.shared.set(system.digest, system)
  const deadline = step.after(boundOf(step, task, 'turnMs'))
  return [
    {
      type: 'task.started',
      task,
      data: {
        generation: host.catalog.generation,
        control: step.base.control.version,
        capabilities: refs,
        grants,
        model: record.created.model ?? sessionModel(step),
        system: system?.digest ?? null,
        settings,
        catalog,
        ...(note === null ? {} : { handoff: step.put(note).digest }),
        deadline,
      },
    },
  ]
}

/** The catalog of now as content: stored once a session, however many turns start with it. */
function shareCatalog(step: Step): string {
  const { host, bodies } = step.base
  const { body } = host.catalog
  if (bodies.catalog?.body !== body) {
    const digest = step.digest(body)
    bodies.catalog = { body, digest }
    bodies.catalogs.set(digest, parseSnapshot(body))
  }
  const { digest } = bodies.catalog
  step.shared.set(digest, { digest, body })
  return digest
}

/** The model that the session was opened with, while this host still has it. */
function sessionModel(step: Step): string {
  const { host, world } = step.base
  const model = world.session?.context.settings.model ?? host.defaultModel
  return host.models.has(model) ? model : host.defaultModel
}

/** Revoked or disabled for the whole store, whatever a policy says. */
function isWithdrawn(step: Step, entry: CatalogEntry): boolean {
  const { control } = step.base
  return control.isRevoked(entry.ref.id) || control.isDisabled(entry.ref.provider)
}

/** What the host's policy allows; a policy that throws denies. A command may narrow it, never widen it. */
function grantOf(step: Step, record: TaskRecord, entry: CatalogEntry): Grant {
  const { host, scope } = step.base
  const allowed = grantFor(host, { scope, task: record.id, capability: entry.ref.id }, entry)
  const asked = record.created.grants?.[entry.ref.id]
  const ceiling = ceilingOf(step, record, allowed, entry)
  return asked === undefined ? ceiling : narrowerGrant(ceiling, asked)
}

/** No more than the parent may use itself, now. */
function ceilingOf(step: Step, { created }: TaskRecord, allowed: Grant, entry: CatalogEntry): Grant {
  if (created.parent === undefined) return allowed
  const held = step.world.taskRecords.get(created.parent)?.grants[entry.ref.id]
  return narrowerGrant(allowed, held ?? nothing)
}

const nothing: Grant = { level: 'none', confirm: 'none' }

/** Names of capabilities only as far as the task may discover them, effects where it may inspect them. */
function handOff(step: Step, record: TaskRecord, grants: TaskRecord['grants']): string | null {
  if (record.created.kind !== 'foreground' || step.world.lastEnd <= record.created.watermark) return null
  const names = new Map<string, Effect | null>()
  for (const entry of step.base.host.catalog.entries()) {
    const grant = grants[entry.ref.id]
    if (entry.kind === 'tool' && isAtLeast(grant, 'discover'))
      names.set(entry.name, isAtLeast(grant, 'inspect') ? entry.effect : null)
  }
  return handOffNote(predecessorsOf(step, record), names)
}

function predecessorsOf(step: Step, record: TaskRecord): readonly TaskRecord[] {
  const found: TaskRecord[] = []
  for (const other of step.world.taskRecords.values())
    if (other.created.kind === 'foreground' && other.run !== null && (other.ended?.seq ?? 0) > record.created.watermark)
      found.push(other)
  return found
}

/** Skills that the operator asked for, the hand-off note and the task's input, as its turn begins. */
export function openTurn(step: Step, task: TaskId): readonly AgendaItem[] {
  const record = needed(step.world.taskRecords.get(task), 'task record')
  const { bodies, desks } = step.base
  const desk = buildDesk(step.base, record)
  desks.set(task, desk)
  const items: AgendaItem[] = [...operatorSkills(step, record, desk)]
  const note = handOff(step, record, record.started?.grants ?? {})
  if (note !== null) items.push(added(step, { task, role: 'system' }, note))
  if (record.created.kind === 'foreground') items.push(...offerResults(step, task))
  const input = needed(bodies.inputs.get(task), 'input')
  bodies.inputs.delete(task)
  items.push(added(step, { task, role: 'user' }, input), ...coreToolProblem(step, record, desk))
  return items
}
