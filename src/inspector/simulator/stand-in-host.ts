import { z } from 'zod'
import type { CapabilityRef, Effect, Grant } from '../../../machines/vocabulary.ts'
import { defineTool } from '../../capabilities/define-tool.ts'
import { keyedDigest } from '../../facts/digest.ts'
import type { Scope } from '../../facts/scope.ts'
import { silentLogger } from '../../facts/system-ports.ts'
import { memoryLog } from '../../log/memory/memory-log.ts'
import { scriptedModel } from '../../models/scripted-model.ts'
import { type Host, resolveHost } from '../../runtime/options.ts'
import { sampleTime } from './sample-time.ts'

export const standInScope: Scope = { tenant: 'local', user: 'you', session: 'tried-out' }
/** The key of a session that nobody has. */
export const standInKey = '00'.repeat(32)

const tools = (['idempotent', 'read'] as const).map((effect) =>
  defineTool({
    name: effect === 'read' ? 'fs.read' : 'shop.order',
    description: 'Is asked for by the examples, and never performed.',
    input: z.object({}),
    effect,
    run: async () => null,
  }),
)

const clock = { now: () => Date.parse(sampleTime) }

/** Plans steps for charts that are tried out, at one moment. Nothing of it is performed, so no store, model or timer is ever asked. */
export const standInHost: Host = resolveHost({
  log: memoryLog({ clock }),
  model: scriptedModel({ name: 'demo', everyTurn: [{ text: 'This is never said.' }] }),
  catalog: tools,
  clock,
  random: { next: () => 0, bytes: (count) => new Uint8Array(count) },
  ids: { next: () => 'process-1' },
  scheduler: { at: () => () => {}, soon: () => {} },
  logger: silentLogger,
})

const entries = [...standInHost.catalog.entries()]

/** Content that a task of an example has started with. */
export const standInCatalog = keyedDigest(standInKey, standInHost.catalog.body)
export const standInRefs: readonly CapabilityRef[] = entries.map(({ ref }) => ref)
export const standInGrants: { readonly [id: string]: Grant } = Object.fromEntries(
  standInRefs.map(({ id }) => [id, { level: 'execute', confirm: 'none' } as const]),
)

/** What a fact says of the tool that a call asks for. */
export function effectOf(tool: string): { readonly effect?: Effect; readonly ref?: CapabilityRef } {
  const entry = entries.find(({ name }) => name === tool)
  return entry?.kind === 'tool' ? { effect: entry.effect, ref: entry.ref } : {}
}
