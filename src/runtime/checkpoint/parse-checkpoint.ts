import { canonicalJson, contractDigest } from '../../facts/digest.ts'
import { LandfallError } from '../../facts/errors.ts'
import type { Limits } from '../../facts/limits.ts'
import { inconsistency } from './check-consistency.ts'
import { type Checkpoint, checkpointSchema, checkpointVersion } from './checkpoint-schema.ts'

type Bounds = Pick<
  Limits,
  'checkpointBytes' | 'checkpointDepth' | 'memoryItems' | 'memoryKeyChars' | 'memoryValueBytes'
>

/**
 * A document, or its text, as a checkpoint; or what refuses it. What is returned is detached plain data that says exactly what
 * the digest in it vouches for.
 */
export function parseCheckpoint(given: unknown, bounds: Bounds): Checkpoint {
  const { text, value } = detached(given, bounds)
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalid('the document is no record')
  const { digest, version, kind } = value as { digest?: unknown; version?: unknown; kind?: unknown }
  if (kind !== 'landfall.checkpoint') throw invalid('the document is no checkpoint')
  if (Number.isSafeInteger(version) && version !== checkpointVersion)
    throw new LandfallError(
      'CHECKPOINT_VERSION',
      'Another version of Landfall took this checkpoint. Use that version.',
      {
        details: { found: version, known: checkpointVersion, refused: true },
      },
    )
  if (digest !== digestOfCheckpoint(value as object)) throw invalid('the digest is not that of the document')
  const result = attempt(() => checkpointSchema.safeParse(value))
  if (!result.success) throw invalid(`the field ${result.error.issues[0]?.path.join('.') || 'of the document'}`)
  const problem = attempt(() => inconsistency(result.data, bounds))
  if (problem !== null) throw invalid(problem)
  // Not the parsed copy: a schema leaves out members of a strange name, and the digest was made with them.
  return JSON.parse(text) as Checkpoint
}

/** Over everything but the digest itself, in canonical form: neither layout nor the order of keys matters. */
export function digestOfCheckpoint(document: object): string {
  const { digest: _, ...rest } = document as { digest?: unknown }
  return contractDigest(rest)
}

/** Canonical text and what it says, whatever was given: a text, bytes, or an object that might change while it is read. */
function detached(given: unknown, bounds: Bounds): { readonly text: string; readonly value: unknown } {
  const whole = given instanceof Uint8Array ? decoded(given, bounds) : given
  if (typeof whole === 'string') bounded(whole, bounds)
  const parsed = typeof whole === 'string' ? attempt(() => JSON.parse(whole) as unknown) : whole
  const text = attempt(() => canonicalJson(parsed))
  bounded(text, bounds)
  return { text, value: attempt(() => JSON.parse(text) as unknown) }
}

function decoded(bytes: Uint8Array, bounds: Bounds): string {
  if (bytes.byteLength > bounds.checkpointBytes) throw tooLarge(bytes.byteLength, bounds)
  return attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes))
}

function bounded(text: string, bounds: Bounds): void {
  const got = Buffer.byteLength(text)
  if (got > bounds.checkpointBytes) throw tooLarge(got, bounds)
  if (depthOf(text) > bounds.checkpointDepth) throw invalid('it is nested too deep')
}

function tooLarge(got: number, { checkpointBytes: bound }: Bounds): LandfallError {
  return invalid('it is larger than its bound', { which: 'checkpointBytes', bound, got })
}

/** How deep a text nests; what is no JSON has a depth too, and is refused by whoever parses it. */
export function depthOf(text: string): number {
  let deepest = 0
  let depth = 0
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, ++depth)
    else if (token === ']' || token === '}') depth -= 1
  }
  return deepest
}

/** Whatever cannot be read is malformed, and nothing of it is told. */
function attempt<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof LandfallError) throw error
    throw invalid('it cannot be read')
  }
}

export function invalid(what: string, details: object = {}): LandfallError {
  return new LandfallError('CHECKPOINT_INVALID', 'This is no checkpoint that can be restored. Take another one.', {
    details: { what, ...details, refused: true },
  })
}
