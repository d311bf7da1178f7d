import { z } from 'zod'
import type { Effect } from '../../../machines/vocabulary.ts'
import { defineTool, type ToolContext, type ToolDefinition } from '../../../src/capabilities/define-tool.ts'

/** One attempt of a call that runs until the test ends it. It hears no abort of its own accord. */
export class HeldCall {
  readonly args: unknown
  readonly context: ToolContext
  readonly #resolve: (value: unknown) => void
  readonly #reject: (error: unknown) => void

  constructor(
    args: unknown,
    context: ToolContext,
    settle: { resolve: (value: unknown) => void; reject: (error: unknown) => void },
  ) {
    this.args = args
    this.context = context
    this.#resolve = settle.resolve
    this.#reject = settle.reject
  }

  get id(): string {
    return this.context.callId
  }

  get aborted(): boolean {
    return this.context.signal.aborted
  }

  returns(value: unknown = 'done'): void {
    this.#resolve(value)
  }

  throws(error: unknown): void {
    this.#reject(error)
  }

  acknowledges(): void {
    this.#reject(this.context.signal.reason)
  }
}

export interface HeldToolOptions {
  readonly effect?: Effect
  readonly timeoutMs?: number
  readonly cancel?: (callId: string) => Promise<'acknowledged' | 'unknown'>
  readonly verify?: () => Promise<'succeeded' | 'failed' | 'unknown'>
  readonly confirm?: 'none' | 'once' | 'each'
}

/** A tool whose every call waits for the test. Takes any `id` and `note`, and nothing else. */
export class HeldTool {
  readonly name: string
  readonly definition: ToolDefinition
  readonly calls: HeldCall[] = []
  readonly #settle: () => Promise<void>
  #taken = 0

  constructor(name: string, options: HeldToolOptions, settle: () => Promise<void>) {
    this.name = name
    this.#settle = settle
    this.definition = defineTool({
      name,
      description: `Held by the test: ${name}.`,
      input: z.strictObject({ id: z.string().optional(), note: z.string().optional() }),
      ...options,
      run: (args, context) =>
        new Promise((resolve, reject) => {
          this.calls.push(new HeldCall(args, context, { resolve, reject }))
        }),
    })
  }

  async next(): Promise<HeldCall> {
    await this.#settle()
    const call = this.calls[this.#taken]
    if (call === undefined) throw new Error(`${this.name} was called ${this.calls.length} times and not again`)
    this.#taken += 1
    return call
  }
}
