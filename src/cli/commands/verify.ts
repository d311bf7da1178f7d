import { LandfallError } from '../../facts/errors.ts'
import type { SessionVerdict } from '../../testing/verify-store/verdict.ts'
import { verifyStore } from '../../testing/verify-store.ts'
import { type CliContext, textOption } from '../cli-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { readKeptHeads, scopeText } from '../kept-heads.ts'
import { withStore } from '../store-reader.ts'

/** A line a session, or a line a violation. Reads only. */
export async function verify(context: CliContext): Promise<number> {
  const { settings, output } = context
  const { tenant, user, session, sessionNamed } = settings
  const kept = textOption(context, 'head')
  const heads = kept === undefined ? [] : await readKeptHeads(kept)
  const narrowed = sessionNamed ? { session } : {}
  const filter = context.options.all === true ? narrowed : { tenant, user, ...narrowed }
  let sound = true
  let found = 0
  await withStore(settings.db, async (log) => {
    for await (const verdict of verifyStore(log, filter, { heads })) {
      found += 1
      sound &&= verdict.ok
      output.result(verdict, () => linesOf(verdict))
    }
  })
  if (found === 0 && sessionNamed)
    throw new LandfallError('NOT_FOUND', 'This session was never opened, so there is nothing to verify.', {
      details: { session },
    })
  return sound ? exitCodes.done : exitCodes.failed
}

function linesOf(verdict: SessionVerdict): readonly string[] {
  const scope = scopeText(verdict)
  if (!verdict.ok)
    return verdict.violations.map(
      ({ seq, invariant, message }) => `violation ${scope} seq=${seq} ${invariant} ${message}`,
    )
  const { facts, requests, head, erased } = verdict
  return [
    `ok ${scope} facts=${facts} requests=${requests} head=${head}${erased === undefined ? '' : ` erased=${erased}`}`,
  ]
}
