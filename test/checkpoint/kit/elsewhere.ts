import { expect } from 'vitest'
import type { Capability } from '../../../src/capabilities/catalog.ts'
import type { Log } from '../../../src/facts/log-port.ts'
import type { ModelRequest } from '../../../src/facts/ports.ts'
import type { Checkpoint } from '../../../src/runtime/checkpoint/checkpoint-schema.ts'
import type { Session } from '../../../src/runtime/session.ts'
import { verifyStore } from '../../../src/testing/verify-store.ts'
import { HeldModel } from '../../runtime/kit/held-model.ts'
import { Rig, type RigOptions } from '../../runtime/kit/rig.ts'

export interface Elsewhere {
  readonly rig: Rig
  readonly session: Session
}

/** Another store, another time, other ids. */
export async function restoredElsewhere(
  checkpoint: Checkpoint,
  catalog: readonly Capability[] = [],
  options: RigOptions = {},
): Promise<Elsewhere> {
  const rig = new Rig({ seed: 4_711, ...options })
  await rig.time.advance(86_400_000)
  await rig.open({ catalog })
  const session = await rig.runtime.restore(JSON.parse(JSON.stringify(checkpoint)))
  return { rig, session }
}

/** What a model is asked next in a session, which it then answers. */
export async function askedNext(rig: Rig, input: string): Promise<ModelRequest> {
  const handle = await rig.session.start(input)
  const held = await rig.model.next()
  held.text('said')
  expect((await handle.outcome()).status).toBe('completed')
  return held.request
}

/** The next turn is the same where the session was and where it goes on. */
export async function checkSameNext(origin: Rig, other: Rig, input = 'and now?'): Promise<ModelRequest> {
  const there = await askedNext(other, input)
  expect(there).toEqual(await askedNext(origin, input))
  await verified(other.store)
  await verified(origin.store)
  return there
}

/** Chain, invariants, content and every request of all sessions of a store. */
export async function verified(store: Log): Promise<void> {
  for await (const { violations } of verifyStore(store)) expect(violations).toEqual([])
}

/** A held model for summaries that moves the time of the rig it is given later. */
export function summariser(): { readonly model: HeldModel; use(rig: Rig): void } {
  let settle = async () => {}
  const model = new HeldModel(() => settle(), 'summariser')
  return {
    model,
    use: (rig) => {
      settle = () => rig.time.settle()
    },
  }
}
