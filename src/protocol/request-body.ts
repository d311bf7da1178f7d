import { LandfallError } from '../facts/errors.ts'
import type { Limits } from '../facts/limits.ts'

/** Which limits a body is held to, by name. */
export interface BodyBounds {
  readonly bytes: 'httpBodyBytes' | 'checkpointBytes'
  readonly depth: 'httpJsonDepth' | 'checkpointDepth'
}

export const usualBounds: BodyBounds = { bytes: 'httpBodyBytes', depth: 'httpJsonDepth' }

/** The body as JSON, whatever its content type says: a plain `curl -d` is understood. No body is an empty object. */
export async function readJson(request: Request, limits: Limits, bounds = usualBounds): Promise<unknown> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > limits[bounds.bytes]) throw tooLarge(limits, bounds, declared)
  const text = decoded(await readBytes(request, limits, bounds))
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('The body is no JSON. Correct it.')
  }
  if (isDeeper(value, limits[bounds.depth])) throw malformed('The body is nested too deeply.')
  return value
}

async function readBytes(request: Request, limits: Limits, bounds: BodyBounds): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const part of request.body ?? []) {
      bytes += part.byteLength
      if (bytes > limits[bounds.bytes]) throw tooLarge(limits, bounds, bytes)
      parts.push(part)
    }
  } catch (error) {
    if (error instanceof LandfallError) throw error
    throw malformed('The body ended before its time.')
  }
  return Buffer.concat(parts)
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw malformed('The body is no UTF-8. Send well-formed text.')
  }
}

/** Looked at level by level, so that the depth of somebody's text is no depth of our stack. */
function isDeeper(value: unknown, bound: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > bound) return true
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}

function tooLarge(limits: Limits, { bytes: which }: BodyBounds, got: number): LandfallError {
  return new LandfallError('LIMIT_EXCEEDED', 'The body is larger than its bound. Send less at once.', {
    details: { which, bound: limits[which], got },
  })
}

function malformed(message: string): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { field: 'body' } })
}
