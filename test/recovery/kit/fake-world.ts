import { z } from 'zod'
import type { Effect } from '../../../machines/vocabulary.ts'
import { defineTool, type ToolContext, type ToolDefinition } from '../../../src/capabilities/define-tool.ts'

/**
 * Owns what calls have done to the world outside. It outlives every process.
 * 1. A change is counted where it happens: after everything that may still stop it.
 */
export class FakeWorld {
  /** Times that each call changed something. */
  readonly changes = new Map<string, number>()
  /** What an idempotent call has stored, by its key. */
  readonly stored = new Set<string>()
  readonly keys = new Map<string, Set<string>>()
  readonly tools: readonly ToolDefinition[]

  constructor() {
    this.tools = [
      tool('look', 'read', async () => 'seen'),
      tool('put', 'idempotent', async (context) => {
        this.stored.add(context.idempotencyKey)
        const keys = this.keys.get(context.callId) ?? new Set()
        this.keys.set(context.callId, keys.add(context.idempotencyKey))
        return 'stored'
      }),
      tool('pay', 'mutate', async (context) => this.#change(context, 'paid')),
      tool('wire', 'mutate', async (context) => this.#change(context, 'wired'), 'each'),
      tool('ask', 'mutate', async (context) => {
        if (context.resumed === undefined) return context.pause({ reason: 'input', subject: 'Which account?' })
        return this.#change(context, `to ${JSON.stringify(context.resumed.input)}`)
      }),
      tool('slow', 'mutate', async (context) => {
        this.#change(context, 'begun')
        await new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)))
      }),
    ]
  }

  #change(context: ToolContext, result: string): string {
    this.changes.set(context.callId, (this.changes.get(context.callId) ?? 0) + 1)
    return result
  }
}

function tool(
  name: string,
  effect: Effect,
  run: (context: ToolContext) => Promise<unknown>,
  confirm: 'none' | 'each' = 'none',
): ToolDefinition {
  return defineTool({
    name,
    description: `Changes the fake world, or looks at it: ${name}.`,
    input: z.strictObject({}),
    effect,
    confirm,
    run: (_, context) => run(context),
  })
}
