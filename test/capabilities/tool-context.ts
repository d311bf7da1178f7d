import type { ToolContext } from '../../src/capabilities/define-tool.ts'

/** A context for tools that use nothing of it but what a test gives. */
export function toolContext(change: Partial<ToolContext> = {}): ToolContext {
  return {
    signal: new AbortController().signal,
    callId: 'c',
    taskId: 't',
    scope: { tenant: 't', user: 'u', session: 's' },
    idempotencyKey: 'k',
    attempt: 1,
    progress: () => {},
    pause: () => Promise.reject(new Error('nobody answers')),
    memory: { get: async () => undefined, put: async () => {} },
    ...change,
  }
}
