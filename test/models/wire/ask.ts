import type { Model, ModelChunk, ModelRequest } from '../../../src/facts/ports.ts'
import { systemClock, systemIds, systemRandom, systemScheduler } from '../../../src/facts/system-ports.ts'
import { type ModelAnswer, readStream } from '../../../src/models/read-stream.ts'

export const request: ModelRequest = Object.freeze({
  system: 'Be brief.',
  messages: [{ role: 'user', content: 'What is here?' }],
  tools: [
    {
      name: 'fs.list',
      description: 'Lists.',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
    },
  ],
  maxOutput: 100,
  settings: {},
  purpose: 'turn',
  turn: 0,
  step: 0,
} as const)

/** One request as the runtime makes it: every answer is checked, and what is silent for too long is cut. */
export async function ask(model: Model, more: Partial<ModelRequest> & { idleMs?: number; signal?: AbortSignal } = {}) {
  const { idleMs = 60_000, signal = new AbortController().signal, ...changes } = more
  const chunks: ModelChunk[] = []
  const answer: ModelAnswer = await readStream(
    model,
    { ...request, ...changes },
    { signal, attempt: 1 },
    {
      clock: systemClock,
      scheduler: systemScheduler(),
      ids: systemIds(systemClock, systemRandom),
      idleMs,
      requestBytes: 400,
      onChunk: (chunk) => chunks.push(chunk),
    },
  )
  return { ...answer, chunks }
}
