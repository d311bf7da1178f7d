import { readFile } from 'node:fs/promises'
import { LandfallError } from '../facts/errors.ts'
import type { Scope } from '../facts/scope.ts'
import type { KeptHead } from '../testing/verify-store/verdict.ts'

/** Ids may hold what separates the fields of a line. */
export function scopeText({ tenant, user, session }: Scope): string {
  return [tenant, user, session].map(encodeURIComponent).join('/')
}

const line = /^ok ([^/ ]+)\/([^/ ]+)\/([^/ ]+) facts=(\d+) requests=\d+ head=([0-9a-f]{64})\b/

/** What `verify` printed once, as lines or as objects; lines about violations hold no head and are left out. */
export async function readKeptHeads(given: string): Promise<readonly KeptHead[]> {
  const text = await content(given)
  const lines = text.split('\n').filter((each) => each.trim() !== '')
  const heads = lines.flatMap((each, at) => headOf(each) ?? refuse(given, at + 1))
  if (heads.length > 0) return heads
  throw new LandfallError('INVALID_INPUT', 'The file holds no head, so there is nothing to compare with.', {
    details: { file: given },
  })
}

function headOf(text: string): readonly KeptHead[] | null {
  const found = line.exec(text)
  if (found !== null) {
    const [, tenant = '', user = '', session = '', facts = '', hash = ''] = found
    const scope = { tenant: decoded(tenant), user: decoded(user), session: decoded(session) }
    return [{ ...scope, seq: Number(facts), hash }]
  }
  if (text.startsWith('violation ')) return []
  return text.startsWith('{') ? headOfObject(text) : null
}

function headOfObject(text: string): readonly KeptHead[] | null {
  try {
    const { ok, tenant, user, session, facts, head } = JSON.parse(text) as Record<string, unknown>
    if (ok === false) return []
    if (typeof tenant !== 'string' || typeof user !== 'string' || typeof session !== 'string') return null
    if (typeof facts !== 'number' || typeof head !== 'string') return null
    return [{ tenant, user, session, seq: facts, hash: head }]
  } catch {
    return null
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

async function content(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new LandfallError('INVALID_INPUT', 'The kept heads cannot be read. Name a file with what verify printed.', {
      details: { file },
      cause,
    })
  }
}

function refuse(file: string, at: number): never {
  throw new LandfallError('INVALID_INPUT', 'A line of the kept heads is none that verify prints.', {
    details: { file, line: at },
  })
}
