import { z } from 'zod'
import { limits } from './limits.ts'

const bounded = (name: 'turnMs' | 'stepsPerTurn' | 'callsPerTurn' | 'toolTranscriptBytesPerTurn') =>
  z.int().min(1).max(limits[name]).optional()

/** Bounds that one background task may have for itself. They only lower those of its session. */
export const ownLimits = z.strictObject({
  turnMs: bounded('turnMs'),
  stepsPerTurn: bounded('stepsPerTurn'),
  callsPerTurn: bounded('callsPerTurn'),
  toolTranscriptBytesPerTurn: bounded('toolTranscriptBytesPerTurn'),
})

export type OwnLimits = { readonly [N in keyof z.output<typeof ownLimits>]?: number }
