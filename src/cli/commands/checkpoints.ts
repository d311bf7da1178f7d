import { readFile } from 'node:fs/promises'
import { Catalog } from '../../capabilities/catalog.ts'
import { LandfallError } from '../../facts/errors.ts'
import { resolveLimits } from '../../facts/limits.ts'
import { takeCheckpoint } from '../../runtime/checkpoint/take-checkpoint.ts'
import { type LedgerEntry, readLedger } from '../../runtime/ledger.ts'
import { type CliContext, scopeOf, textArgument, textOption } from '../cli-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { openSession } from '../open-session.ts'
import { readAll } from '../read-input.ts'
import { withStore } from '../store-reader.ts'
import { usageError } from '../usage-error.ts'
import { wholeNumber } from '../whole-number.ts'

/** The document is JSON with and without `--json`: it is for `restore`. */
export async function checkpoint(context: CliContext): Promise<number> {
  const { settings, output } = context
  const at = wholeNumber('--at', textOption(context, 'at'), 1)
  const document = await withStore(settings.db, (log) =>
    takeCheckpoint({ log, limits: resolveLimits(), catalog: new Catalog([]) }, scopeOf(settings), at),
  )
  output.value(document)
  return exitCodes.done
}

/** The session goes on under the name that the command line gives; a checkpoint of another user is brought by this one. */
export async function restore(context: CliContext): Promise<number> {
  const file = textArgument(context, 0)
  if (file === undefined) throw usageError('Name the file of a checkpoint, or - for standard input.')
  const document = file === '-' ? await readAll() : await contentsOf(file)
  const open = await openSession(context, { modelless: true })
  try {
    const { scope, runtime } = open
    const session = await open.safely(runtime.restore(document, { scope, elevated: { actor: scope.user } }))
    const { turns } = (await session.checkpoint()).identity
    const messages = (await session.messages()).length
    context.output.result({ result: 'restored', ...scope, turns, messages }, () => [
      `restored session=${scope.session} turns=${turns} messages=${messages}`,
    ])
    return exitCodes.done
  } finally {
    await open.close()
  }
}

async function contentsOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw new LandfallError('INVALID_INPUT', 'The checkpoint cannot be read. Name an existing file.', {
      details: { file },
      cause,
    })
  }
}

export async function ledger(context: CliContext): Promise<number> {
  const { settings, output } = context
  const after = wholeNumber('--after', textOption(context, 'after'))
  const limit = wholeNumber('--limit', textOption(context, 'limit'), 1)
  const page = { ...(after === undefined ? {} : { after }), ...(limit === undefined ? {} : { limit }) }
  const entries = await withStore(settings.db, (log) => readLedger(log, scopeOf(settings), page))
  output.result(entries, () => entries.map(entryText))
  return exitCodes.done
}

function entryText({ seq, at, kind, task, call, by, ...told }: LedgerEntry): string {
  const about = call ?? task
  const details = Object.entries(told).map(([name, value]) => {
    return `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`
  })
  return [seq, at, kind, ...(about === null ? [] : [about]), ...details, `by=${by.kind}:${by.id}`].join(' ')
}
