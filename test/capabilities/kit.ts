import { expect } from 'vitest'
import { z } from 'zod'
import type { FactType } from '../../machines/facts.ts'
import type { Capability } from '../../src/capabilities/catalog.ts'
import { defineTool, type ToolOptions } from '../../src/capabilities/define-tool.ts'
import type { ToolSchema } from '../../src/capabilities/tool-schema.ts'
import type { StoredFact, StoredFactOf } from '../../src/facts/envelope.ts'
import { verifyStore } from '../../src/testing/verify-store.ts'
import { checkAll } from '../runtime/kit/check.ts'
import { Rig, type RigOptions } from '../runtime/kit/rig.ts'

/** A rig with a catalog of its own, which it keeps over crashes. */
export async function rigWith(catalog: readonly Capability[], options: RigOptions = {}): Promise<Rig> {
  const rig = new Rig(options)
  await rig.open({ catalog })
  return rig
}

export function quickTool(name: string, more: Partial<ToolOptions<ToolSchema>> = {}) {
  const input = z.strictObject({ id: z.string().optional() })
  return defineTool({ name, description: `Does ${name}.`, input, effect: 'read', run: () => `${name} done`, ...more })
}

/** The rig's own checks, and the store's: every request is built again from the log and content. */
export async function verifyAll(rig: Rig): Promise<void> {
  await checkAll(rig)
  for await (const { violations } of verifyStore(rig.store)) expect(violations).toEqual([])
}

/** The result of the newest call of a planner tool, as the model reads it. */
export async function lastResult(rig: Rig): Promise<unknown> {
  const last = (await rig.session.messages()).filter(({ role }) => role === 'tool').at(-1)
  return JSON.parse(last?.content ?? 'null')
}

export async function factsOf<T extends FactType>(rig: Rig, type: T): Promise<readonly StoredFactOf<T>[]> {
  const facts = await rig.facts()
  return facts.filter((fact) => fact.type === type) as readonly StoredFact[] as readonly StoredFactOf<T>[]
}
