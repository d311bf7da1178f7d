import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineTool, openRuntime, scriptedModel } from '../../src/index.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import type { Session } from '../../src/runtime/session.ts'
import type { KeptHead, SessionFilter, SessionVerdict } from '../../src/testing/public.ts'
import { verifyStore } from '../../src/testing/public.ts'

export const alice = { tenant: 't', user: 'alice', session: 'talk' }
export const bob = { tenant: 't', user: 'bob', session: 'talk' }

const weather = defineTool({
  name: 'weather.read',
  description: 'Tells the weather of a place.',
  input: z.object({ place: z.string() }),
  effect: 'read',
  run: async ({ place }) => ({ place, sky: 'clear' }),
})

const script = {
  everyTurn: [
    { text: 'I look.', calls: [{ name: 'weather.read', arguments: { place: 'Oslo' } }] },
    { text: 'After {{last}} you asked {{input}}.', delayMs: 5 },
  ],
}

/** A store on disk with what `work` did in its sessions, closed again. */
export async function storeWith(file: string, work: (of: (scope: typeof alice) => Session) => Promise<void>) {
  const log = sqliteLog(file)
  const runtime = await openRuntime({ log, model: scriptedModel(script), catalog: [weather], system: 'Be brief.' })
  await work((scope) => runtime.session(scope))
  await runtime.close()
  await log.close()
}

/** Two sessions: one of three turns of which one had waited for another, and one of a single turn. */
export async function twoSessions(file: string): Promise<void> {
  await storeWith(file, async (of) => {
    const first = await of(alice).start('How is Oslo?')
    const second = await of(alice).followUp('And now?')
    await of(alice).steer('Be quick.')
    await first.outcome()
    await second.outcome()
    await (await of(alice).start('Thanks.')).outcome()
    await (await of(bob).start('Hello.')).outcome()
  })
}

/** Changes the file behind the library's back. */
export function tamper(file: string, change: (db: Database.Database) => void): void {
  const db = new Database(file)
  change(db)
  db.close()
}

export async function verdicts(
  file: string,
  filter: SessionFilter = {},
  heads: readonly KeptHead[] = [],
): Promise<readonly SessionVerdict[]> {
  const log = sqliteLog(file, { readonly: true })
  onTestFinished(() => log.close())
  const all: SessionVerdict[] = []
  for await (const verdict of verifyStore(log, filter, { heads })) all.push(verdict)
  return all
}

export function sidOf(db: Database.Database, scope: typeof alice): number {
  return Number(
    db
      .prepare('SELECT sid FROM sessions WHERE tenant = ? AND user = ? AND session = ?')
      .pluck()
      .get(scope.tenant, scope.user, scope.session),
  )
}
