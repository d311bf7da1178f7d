import type { Json, MemoryScope } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import { keyedDigest } from '../facts/digest.ts'
import type { ContentRef, Log } from '../facts/log-port.ts'
import { controlScope, type Scope } from '../facts/scope.ts'
import { keyOfBody, ownerOf, type SharedScope, sharedKeyBody } from './control-memory.ts'
import { checkedKey, checkedMemoryScope } from './memory-note.ts'
import type { Services } from './services.ts'

/** What a reader of memory works with: one session's identity, and its folded state of now. */
export interface MemoryReader {
  readonly services: Pick<Services, 'host' | 'control'>
  readonly scope: Scope
  readonly look: <T>(look: (world: World) => T) => Promise<T>
}

export interface NoteEntry {
  readonly key: string
  /** Of the value. */
  readonly bytes: number
}

interface FoundNote {
  readonly value: Json
}

/** A note of one memory, the one that is named: none is looked for in a wider one. What is another's is not there. */
export async function readNote(
  reader: MemoryReader,
  key: unknown,
  memory: unknown = 'session',
): Promise<FoundNote | null> {
  const scope = checkedMemoryScope(memory)
  if (scope !== 'session') return readShared(reader, key, scope)
  const { services, scope: where } = reader
  return found(services.host.log, where, await placeInSession(reader, checkedKey(services.host.limits, key)))
}

/** A note of the user or of the tenant. */
export async function readShared(
  reader: Omit<MemoryReader, 'look'>,
  key: unknown,
  scope: SharedScope,
): Promise<FoundNote | null> {
  const { host } = reader.services
  return found(host.log, controlScope, await placeInControl(reader, checkedKey(host.limits, key), scope))
}

async function found(log: Log, where: Scope, ref: ContentRef | null): Promise<FoundNote | null> {
  if (ref === null) return null
  const body = (await log.content(where, [ref]))[0]
  return body == null ? null : { value: JSON.parse(body) as Json }
}

async function placeInSession({ services, scope, look }: MemoryReader, key: string): Promise<ContentRef | null> {
  const secret = (await services.host.log.head(scope))?.key
  if (secret === undefined) return null
  const digest = keyedDigest(secret, key)
  return look((world) => world.memory.get(digest) ?? null)
}

async function placeInControl(
  reader: Omit<MemoryReader, 'look'>,
  key: string,
  scope: SharedScope,
): Promise<ContentRef | null> {
  const { control } = reader.services
  await control.refresh()
  const secret = await control.key()
  if (secret === null) return null
  const owner = ownerOf(reader.scope, scope)
  return control.memory.find(owner, keyedDigest(secret, sharedKeyBody(owner, key))) ?? null
}

/** The notes of one memory, by key, without their values. */
export async function listNotes(reader: MemoryReader, memory: unknown = 'session'): Promise<readonly NoteEntry[]> {
  const scope: MemoryScope = checkedMemoryScope(memory)
  const { host, control } = reader.services
  if (scope !== 'session') await control.refresh()
  const notes =
    scope === 'session'
      ? await reader.look((world) => [...world.memory].map(([key, note]) => ({ key, ...note })))
      : control.memory.notes(ownerOf(reader.scope, scope))
  const where = scope === 'session' ? reader.scope : controlScope
  const refs = notes.map(({ key, step }) => ({ digest: key, step }))
  const keys = await host.log.content(where, refs)
  return notes
    .flatMap(({ bytes }, index) => {
      const body = keys[index]
      return body == null ? [] : [{ key: scope === 'session' ? body : keyOfBody(body), bytes }]
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}
