import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import { isLandfallError, LandfallError } from '../facts/errors.ts'
import type { Redactor } from '../facts/ports.ts'
import { statusOfCode } from './status-of-code.ts'

export const problemType = 'application/problem+json'

/** An error as HTTP tells it (RFC 9457). Programs decide by `code`. */
export const problemSchema = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int().min(400).max(599),
    code: z.string(),
    detail: z.string(),
    retryable: z.boolean(),
    details: z.exactOptional(z.record(z.string(), z.json())),
  })
  .meta({ id: 'Problem' })

export type Problem = z.infer<typeof problemSchema>

/** Names of bounds, fields, ids and states. Everything else that an error holds is for those who sit at the machine. */
const told: ReadonlySet<string> = new Set([
  'which',
  'bound',
  'got',
  'field',
  'accepted',
  'task',
  'tasks',
  'active',
  'state',
  'reason',
  'quarantined',
  'scope',
])

const secondsToWait = '1'

/** The response for whatever was thrown. Nothing that is not an error of ours is described. */
export function problemResponse(error: unknown, redactor: Redactor): Response {
  return responseOf(problemOf(isLandfallError(error) ? error : bug(), redactor))
}

export function responseOf(problem: Problem): Response {
  const retry = problem.status === 429 || problem.status === 503 ? { 'retry-after': secondsToWait } : {}
  const challenge = problem.status === 401 ? { 'www-authenticate': 'Bearer' } : {}
  const headers = { 'content-type': problemType, 'cache-control': 'no-store', ...retry, ...challenge }
  return new Response(JSON.stringify(problem), { status: problem.status, headers })
}

export function problemOf(error: LandfallError, redactor: Redactor): Problem {
  const status = statusOfCode(error.code, error.details)
  const details = shownDetails(error.details, redactor)
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    code: error.code,
    detail: safely(() => redactor.text(error.message)) ?? 'The description was withheld.',
    retryable: error.retryable,
    ...(details === null ? {} : { details }),
  }
}

function bug(): LandfallError {
  return new LandfallError('INTERNAL', 'The server met a fault of its own. Its log names the request.')
}

function shownDetails(
  given: Readonly<Record<string, unknown>>,
  redactor: Redactor,
): NonNullable<Problem['details']> | null {
  const entries = Object.entries(given).filter(([name, value]) => told.has(name) && value !== undefined)
  if (entries.length === 0) return null
  const clean = safely(() => redactor.value(Object.fromEntries(entries)))
  return clean === null ? null : (JSON.parse(JSON.stringify(clean)) as NonNullable<Problem['details']>)
}

/** When the redactor fails, what it should have seen goes nowhere. */
function safely<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
