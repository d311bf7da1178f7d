import type { TaskRecord } from '../../machines/world.ts'
import type { SkillEntry, ToolEntry } from '../capabilities/catalog.ts'
import { type CatalogSnapshot, emptySnapshot } from '../capabilities/catalog-snapshot.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Content } from '../facts/log-port.ts'
import { needed } from './expand-messages.ts'
import type { Host } from './options.ts'
import { RequestView } from './request-view.ts'
import type { StepBase } from './step.ts'
import { TaskDesk } from './task-desk.ts'

/** What a desk is built from; a step's base, or a live session that takes over what another owner began. */
export type DeskBase = Pick<StepBase, 'world' | 'bodies' | 'key'> & { readonly host: Pick<Host, 'catalog'> }

/** System text of a task: the command's, or the one that the session was opened with; shared content of the session. */
export function systemOf(base: DeskBase, record: TaskRecord): Content | null {
  const settings = base.world.session?.context.settings
  const digest = record.started === null ? (record.created.system ?? settings?.system ?? null) : record.started.system
  if (digest === null) return null
  const body = base.bodies.systems.get(digest)
  if (body !== undefined) return { digest, body }
  throw new LandfallError('INTERNAL', 'A system text is not in memory. Report this as a bug.')
}

function snapshotOf(base: DeskBase, record: TaskRecord): CatalogSnapshot {
  const catalog = record.started?.catalog
  return catalog === undefined ? emptySnapshot : needed(base.bodies.catalogs.get(catalog), 'catalog of a task')
}

/** The catalog that the task started with, from content; what of it the host can still perform. */
export function buildDesk(base: DeskBase, record: TaskRecord): TaskDesk {
  const { bodies, host, world } = base
  const tools = new Map<string, ToolEntry>()
  const skills = new Map<string, SkillEntry>()
  for (const ref of record.started?.capabilities ?? []) {
    const entry = host.catalog.current(ref)
    if (entry?.kind === 'tool') tools.set(entry.name, entry)
    if (entry?.kind === 'skill') skills.set(entry.name, entry)
  }
  const desk = new TaskDesk({
    task: record.id,
    system: systemOf(base, record)?.body ?? '',
    snapshot: snapshotOf(base, record),
    tools,
    skills,
    view: world.ownViews.has(record.id) ? new RequestView() : bodies.sharedView,
  })
  equip(base, desk, record)
  return desk
}

/** Brings what a task's requests offer and carry up to what it has loaded and activated. */
export function equip(base: Pick<DeskBase, 'bodies' | 'key'>, desk: TaskDesk, record: TaskRecord): void {
  const { bodies, key } = base
  desk.equip(record, {
    offer: (loaded) =>
      bodies.offers.of({
        key,
        snapshot: desk.snapshot,
        catalog: record.started?.catalog ?? '',
        grants: record.started?.grants ?? {},
        loaded,
      }),
    skill: ({ digest }) => needed(bodies.skills.get(digest), 'text of an active skill'),
  })
}
