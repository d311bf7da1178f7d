import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { LandfallError } from '../facts/errors.ts'
import { jsonObject } from '../facts/schemas/atoms.ts'
import type { ConfigFile } from './config-file.ts'

const text = z.string().min(1)
const count = z.int().min(1)

/** Every option of the command line that is worth keeping, and the bounds of the runtime, which have no flag. */
const config = z.strictObject({
  db: text.optional(),
  tenant: text.optional(),
  user: text.optional(),
  session: text.optional(),
  model: text.optional(),
  tools: text.optional(),
  workspace: text.optional(),
  isolation: text.optional(),
  image: text.optional(),
  skills: text.optional(),
  system: text.optional(),
  json: z.boolean().optional(),
  quiet: z.boolean().optional(),
  maxStoreBytes: count.optional(),
  requestTimeoutMs: z.exactOptional(count),
  budget: z.exactOptional(z.strictObject({ tokens: count })),
  context: z.exactOptional(
    z.strictObject({
      windowTokens: z.exactOptional(count),
      thresholdTokens: z.exactOptional(count),
      tailMessages: z.exactOptional(z.int().min(0)),
      reserveTokens: z.exactOptional(count),
    }),
  ),
  limits: z.exactOptional(z.record(z.string(), z.number())),
  settings: z.exactOptional(jsonObject),
})

/** The JSON of `--config FILE`, checked; `INVALID_INPUT` names the place. */
export async function readConfig(file: string): Promise<ConfigFile> {
  const result = config.safeParse(await parsed(file))
  if (!result.success) {
    const issue = result.error.issues[0]
    throw invalid(file, `The config file is not valid at '${issue?.path.join('.')}': ${issue?.message}. Correct it.`)
  }
  const { requestTimeoutMs, budget, context, limits, settings, ...flags } = result.data
  const host = {
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    ...(budget === undefined ? {} : { budget }),
    ...(context === undefined ? {} : { context }),
    ...(limits === undefined ? {} : { limits }),
    ...(settings === undefined ? {} : { settings }),
  }
  return { ...flags, host }
}

async function parsed(file: string): Promise<unknown> {
  let content: string
  try {
    content = await readFile(file, 'utf8')
  } catch (cause) {
    throw invalid(file, 'The config file cannot be read. Name an existing file.', cause)
  }
  try {
    return JSON.parse(content)
  } catch (cause) {
    throw invalid(file, 'The config file is not JSON. Correct it.', cause)
  }
}

function invalid(file: string, message: string, cause?: unknown): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { file }, cause })
}
