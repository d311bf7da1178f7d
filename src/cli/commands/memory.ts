import type { Json } from '../../../machines/vocabulary.ts'
import { LandfallError } from '../../facts/errors.ts'
import type { Log } from '../../facts/log-port.ts'
import type { Receipt } from '../../runtime/command.ts'
import { ControlStream } from '../../runtime/control-stream.ts'
import { loadNewest } from '../../runtime/load-world.ts'
import { resolveHost } from '../../runtime/options.ts'
import { listNotes, type MemoryReader, readNote } from '../../runtime/read-memory.ts'
import type { SessionMemory } from '../../runtime/session-memory.ts'
import { type CliContext, choiceOption, scopeOf, textArgument, textOption } from '../cli-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { absentModel, openSession } from '../open-session.ts'
import { withStore } from '../store-reader.ts'
import { usageError } from '../usage-error.ts'

export async function memory(context: CliContext): Promise<number> {
  const [key, value] = [textArgument(context, 0), textArgument(context, 1)]
  const of = choiceOption(context, 'of', ['session', 'user', 'tenant']) ?? 'session'
  const removes = context.options.remove === true
  const id = textOption(context, 'commandId')
  const options = id === undefined ? {} : { commandId: id }
  if (removes && (key === undefined || value !== undefined)) throw usageError('Name the note that is to go.')
  if (removes) return change(context, (notes) => notes.remove(key ?? '', { scope: of, ...options }))
  if (key === undefined) return list(context, of)
  if (value === undefined) return show(context, key, of)
  if (of !== 'session') throw usageError('A note is kept for the session. The host promotes it to a user or a tenant.')
  return change(context, (notes) => notes.put(key, noteOf(value), options))
}

function noteOf(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

async function list({ settings, output }: CliContext, of: string): Promise<number> {
  const notes = await withStore(settings.db, (log) => listNotes(readerOf(log, settings), of))
  output.result(notes, () => notes.map(({ key, bytes }) => `${key} bytes=${bytes}`))
  return exitCodes.done
}

async function show({ settings, output }: CliContext, key: string, of: string): Promise<number> {
  const note = await withStore(settings.db, (log) => readNote(readerOf(log, settings), key, of))
  if (note === null)
    throw new LandfallError('NOT_FOUND', 'No such note in this memory. List what there is without a key.')
  output.value(note.value)
  return exitCodes.done
}

/** Reads alone: nothing is claimed, and work that a lost owner left is not begun. */
function readerOf(log: Log, settings: CliContext['settings']): MemoryReader {
  const host = resolveHost({ log, model: absentModel })
  const scope = scopeOf(settings)
  return {
    services: { host, control: new ControlStream(host) },
    scope,
    look: async (look) => look((await loadNewest(log, scope)).world),
  }
}

async function change(context: CliContext, command: (notes: SessionMemory) => Promise<Receipt>): Promise<number> {
  const open = await openSession(context, { modelless: true })
  try {
    const receipt = await open.safely(command(open.session.memory))
    context.output.result(receipt, () => [
      Object.entries(receipt)
        .map(([name, value]) => (name === 'result' ? value : `${name}=${value}`))
        .join(' '),
    ])
    return exitCodes.done
  } finally {
    await open.close()
  }
}
