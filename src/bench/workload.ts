import { join } from 'node:path'
import { z } from 'zod'
import type { Product, Runtime, Scope, Session } from './product.ts'

/** The context window of every case: 64 KiB, so that a long conversation is compacted and not merely grown. */
export const windowTokens = 64 * 1024

/** About 100 bytes; the number keeps the turns from being one and the same. */
export function userMessage(turn: number): string {
  return `Turn ${turn}: read the next entry of the shelf and tell me in one sentence what stands there, please.`
}

/** A turn asks for one call and then answers, with no delay of its own. */
export const turnScript = {
  name: 'bench',
  everyTurn: [
    {
      text: 'I look at the shelf.',
      calls: [{ name: 'bench.read', arguments: { key: 'shelf' } }],
      usage: { input: 120, output: 30 },
    },
    { text: 'The shelf holds one entry, and it has not changed.', usage: { input: 180, output: 12 } },
  ],
}

/** Asks the model and is never answered: a turn that waits until it is cancelled. */
export const waitingScript = { name: 'bench-waiting', everyTurn: [{ hang: true }] }

function readTool(product: Product): unknown {
  return product.defineTool({
    name: 'bench.read',
    description: 'Reads one entry of the shelf.',
    input: z.object({ key: z.string() }),
    effect: 'read',
    run: async ({ key }: { key: string }) => ({
      key,
      entry: 'an entry of about one hundred bytes, plain and without surprise',
    }),
  })
}

export async function openRuntime(product: Product, directory: string, script: object = turnScript): Promise<Runtime> {
  return product.openRuntime({
    log: product.sqliteLog(join(directory, 'landfall.db'), { synchronous: 'FULL' }),
    model: product.scriptedModel(script),
    catalog: [readTool(product)],
    context: { windowTokens },
  })
}

export const owner = { tenant: 'bench', user: 'bench' } as const

export function scopeOf(session: number): Scope {
  return { ...owner, session: `session-${session}` }
}

/** One durable turn. A turn that ends otherwise, or without its call, is no measurement, so it throws. */
export async function runTurn(session: Session, turn: number): Promise<void> {
  const task = await session.start(userMessage(turn))
  const outcome = await task.outcome()
  if (outcome.status !== 'completed' || outcome.calls.total !== 1 || outcome.calls.failed !== 0) {
    throw new Error(
      `turn ${turn} ended ${outcome.status} with ${outcome.calls.total} calls, ${outcome.calls.failed} failed`,
    )
  }
}

export async function runTurns(session: Session, first: number, last: number): Promise<void> {
  for (let turn = first; turn <= last; turn += 1) await runTurn(session, turn)
}

/** Gives each of `count` sessions its turns, at most `width` sessions at a time. */
export async function fillSessions(runtime: Runtime, count: number, turns: number, width = 64): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await runTurns(runtime.session(scopeOf(next++)), 1, turns)
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker))
}
