import type { FactData } from '../../machines/facts.ts'
import type { CapabilityRef } from '../../machines/vocabulary.ts'
import type { TaskRecord } from '../../machines/world.ts'
import type { CatalogEntry } from '../capabilities/catalog.ts'
import { keyedDigest } from '../facts/digest.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Content } from '../facts/log-port.ts'
import type { ModelTool } from '../facts/ports.ts'
import { definitionKey } from './definition-key.ts'
import { newOffer, type Offer } from './offer.ts'
import { RequestView } from './request-view.ts'
import type { Step, StepBase } from './step.ts'
import { TaskDesk } from './task-desk.ts'

/** Descriptions and schemas of the task's tools, stored once a session however many turns use them. */
export function sharedDefinitions(step: Step, refs: readonly CapabilityRef[]): readonly Content[] {
  const { host, bodies } = step.base
  return refs.flatMap((ref) => {
    const digest = definitionKey(ref)
    const entry = bodies.stored.has(digest) ? null : host.catalog.current(ref)
    return entry === null ? [] : [{ digest, body: entry.body }]
  })
}

/** What a desk is built from; a step's base, or a live session that takes over what another owner began. */
export type DeskBase = Pick<StepBase, 'host' | 'world' | 'bodies' | 'key'>

/** System text of a task: the command's, or the one that the session was opened with; shared content of the session. */
export function systemOf(base: DeskBase, record: TaskRecord): Content | null {
  const settings = base.world.session?.context.settings
  const digest = record.started === null ? (record.created.system ?? settings?.system ?? null) : record.started.system
  if (digest === null) return null
  const body = base.bodies.systems.get(digest)
  if (body !== undefined) return { digest, body }
  throw new LandfallError('INTERNAL', 'A system text is not in memory. Report this as a bug.')
}

/** The definitions that the task started with, from content when the host's catalog has moved on. */
export function buildDesk(base: DeskBase, record: TaskRecord): TaskDesk {
  const { bodies } = base
  const refs = record.started?.capabilities ?? []
  const key = refs.map(definitionKey).join('\n')
  const offer = bodies.offers.get(key) ?? offerOf(base, refs)
  bodies.offers.set(key, offer)
  return new TaskDesk({
    task: record.id,
    system: systemOf(base, record)?.body ?? '',
    offer,
    view: base.world.ownViews.has(record.id) ? new RequestView() : bodies.sharedView,
  })
}

/** What a set of references offers. Turns of one catalog share it, so that a start does not digest every schema again. */
function offerOf(base: DeskBase, refs: readonly CapabilityRef[]): Offer {
  const { host, bodies } = base
  const entries = new Map<string, CatalogEntry>()
  const tools: ModelTool[] = []
  for (const ref of refs) {
    const entry = host.catalog.current(ref)
    const definition = bodies.definitions.get(definitionKey(ref)) ?? entry?.definition
    if (entry !== null) entries.set(entry.tool.name, entry)
    if (definition !== undefined && entry?.tool.load !== 'demand') tools.push(definition)
  }
  return newOffer(base.key, entries, tools)
}

/** The digest that `verify` compares a rebuilt request with: settings, system, tools, and the view as one rolling digest. */
export function requestDigest(key: string, desk: TaskDesk, started: FactData['task.started']): string {
  return keyedDigest(key, {
    settings: started.settings,
    system: started.system,
    tools: desk.offer.digest,
    rolling: desk.view.rolling,
  })
}
