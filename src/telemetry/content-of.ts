import type { StoredFact } from '../facts/envelope.ts'
import type { Runtime } from '../runtime/open-runtime.ts'

/** The message that a fact adds, redacted; null when there is none any more, or when the redactor fails. */
export async function contentOf(
  runtime: Runtime,
  { tenant, user, session, seq }: StoredFact,
): Promise<{ readonly role: string; readonly content: string } | null> {
  try {
    const [message] = await runtime.session({ tenant, user, session }).messages({ after: seq - 1, limit: 1 })
    if (message === undefined || message.seq !== seq || typeof message.content !== 'string') return null
    return { role: message.role, content: runtime.ports.redactor.text(message.content) }
  } catch {
    return null
  }
}
