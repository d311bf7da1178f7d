import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { LandfallError } from '../facts/errors.ts'

const count = z.number().int().nonnegative()

const usage = z.strictObject({
  input: count,
  output: count,
  total: count.optional(),
  cached: count.optional(),
  reasoning: count.optional(),
})

const call = z.strictObject({
  id: z.string().min(1).max(128).optional(),
  name: z.string().min(1).max(128),
  arguments: z.record(z.string(), z.json()).default({}),
})

const failure = z.strictObject({
  code: z.string().min(1).max(128),
  retryable: z.boolean().default(false),
  retryAfterMs: count.optional(),
})

const step = z
  .strictObject({
    text: z.string().optional(),
    chunks: z.array(z.string()).optional(),
    reasoning: z.string().optional(),
    calls: z.array(call).optional(),
    usage: usage.optional(),
    finish: z.enum(['stop', 'calls', 'length', 'filter', 'other']).optional(),
    delayMs: count.optional(),
    error: failure.optional(),
    times: z.number().int().positive().optional(),
    hang: z.union([z.literal(true), z.literal('deaf')]).optional(),
    garbage: z.string().optional(),
  })
  .refine((value) => value.text === undefined || value.chunks === undefined, 'has both text and chunks')
  .refine((value) => value.times === undefined || value.error !== undefined, 'has times without an error')

const script = z.strictObject({
  name: z.string().min(1).max(128).optional(),
  turns: z.array(z.array(step)).optional(),
  everyTurn: z.array(step).optional(),
  background: z.array(step).optional(),
  summary: step.optional(),
  otherwise: step.optional(),
})

/** What a scripted model is given: the JSON of a `script:` file. */
export type Script = z.input<typeof script>
export type ScriptStep = z.output<typeof step>
export type CheckedScript = z.output<typeof script>

/** The script with its defaults filled in, or `INVALID_INPUT` that names the places. */
export function checkScript(value: unknown): CheckedScript {
  const result = script.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }))
  const where = issues[0]
  const message = `The model script is not valid at '${where?.path}': ${where?.message}. Correct the script.`
  throw new LandfallError('INVALID_INPUT', message, { details: { issues } })
}

/** Reads a `script:FILE.json`. */
export async function loadScript(file: string): Promise<CheckedScript> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new LandfallError('INVALID_INPUT', 'The model script cannot be read. Name an existing file.', {
      details: { file },
      cause,
    })
  }
  try {
    return checkScript(JSON.parse(text))
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new LandfallError('INVALID_INPUT', 'The model script is not JSON. Correct the file.', { details: { file } })
  }
}
