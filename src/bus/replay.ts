import { unpackStep } from '../facts/codec.ts'
import type { FairLoop } from '../facts/fair-loop.ts'
import type { StoredStep } from '../facts/log-port.ts'
import type { Scope } from '../facts/scope.ts'
import { busFact } from './bus-fact.ts'
import type { Subscription } from './subscription.ts'

/** Steps that one read of the log brings; between two reads the loop is free for others. */
const pageSteps = 64

/** What a subscription is replayed from: one session's steps, or all steps with those left out that it may not see. */
export interface ReplaySource {
  read(afterCursor: number, limit: number): Promise<readonly StoredStep[]>
  covers(scope: Scope): boolean
}

/** Everything after the subscription's position, then the switch to live. Ends early when the subscription is over. */
export async function replay(
  subscription: Subscription,
  source: ReplaySource,
  context: { readonly epoch: string; readonly pause: () => Promise<void>; readonly fair: FairLoop },
): Promise<void> {
  while (!subscription.over) {
    while (context.fair.spent) await context.fair.turn()
    subscription.expectAside()
    const steps = await source.read(subscription.position, pageSteps)
    for (const step of steps) {
      if (source.covers(step.scope)) {
        while (context.fair.spent) await context.fair.turn()
        await replayStep(subscription, step, context.epoch)
      }
      if (subscription.over) return
      subscription.replayed(step.cursor)
    }
    await subscription.sink.room()
    if (steps.length < pageSteps && subscription.goLive()) return
    await context.pause()
  }
}

async function replayStep(subscription: Subscription, step: StoredStep, epoch: string): Promise<void> {
  for (const stored of unpackStep(step, { validate: false })) {
    if (!subscription.wantsReplayed(stored)) continue
    const room = subscription.sink.room()
    if (room !== undefined) await room
    if (subscription.over) return
    subscription.sink.fact(busFact(stored, epoch))
  }
}
