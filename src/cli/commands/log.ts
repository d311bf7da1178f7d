import type { Log } from '../../facts/log-port.ts'
import type { Scope } from '../../facts/scope.ts'
import { systemClock, systemScheduler } from '../../facts/system-ports.ts'
import { factsOf } from '../../runtime/read-facts.ts'
import { type CliContext, scopeOf, textOption } from '../cli-context.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Output } from '../output.ts'
import { withStore } from '../store-reader.ts'
import { wholeNumber } from '../whole-number.ts'

/** Facts as JSON lines, with and without `--json`. */
export async function log(context: CliContext): Promise<number> {
  const { settings, output } = context
  const after = wholeNumber('--after', textOption(context, 'after')) ?? 0
  const limit = wholeNumber('--limit', textOption(context, 'limit'), 1) ?? Number.POSITIVE_INFINITY
  const scope = scopeOf(settings)
  // The poll of the store is all that keeps a follower alive.
  const scheduler = systemScheduler({ clock: systemClock })
  const follow = context.options.follow === true
  await withStore(
    settings.db,
    async (store) => {
      const written = await write(store, scope, { after, limit, output })
      if (follow && !written.over) await followOn(store, scope, { ...written, output })
    },
    follow ? { scheduler } : {},
  )
  return exitCodes.done
}

interface Place {
  readonly after: number
  readonly limit: number
}

async function write(
  store: Log,
  scope: Scope,
  from: Place & { readonly output: Output },
): Promise<Place & { readonly over: boolean }> {
  let { after, limit } = from
  for await (const fact of factsOf(store, scope, after)) {
    if (limit < 1) break
    from.output.value(fact)
    after = fact.seq
    limit -= 1
    // Nothing ever stands behind it.
    if (fact.type === 'session.erased') return { after, limit, over: true }
  }
  return { after, limit, over: limit < 1 }
}

/** Goes on until the session is erased, the limit is reached, or somebody interrupts. */
async function followOn(store: Log, scope: Scope, from: Place & { readonly output: Output }): Promise<void> {
  let place: Place = from
  let notice: () => void = () => {}
  let pending = true
  const stop = store.watch(() => {
    pending = true
    notice()
  })
  try {
    for (;;) {
      if (!pending)
        await new Promise<void>((resolve) => {
          notice = resolve
        })
      pending = false
      const written = await write(store, scope, { ...place, output: from.output })
      if (written.over) return
      place = written
    }
  } finally {
    stop()
  }
}
