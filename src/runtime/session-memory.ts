import type { Json, MemoryScope } from '../../machines/vocabulary.ts'
import { keyedDigest } from '../facts/digest.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Receipt } from './command.ts'
import type { CommandName } from './command-bodies.ts'
import { type MemoryOwner, ownerOf, type SharedScope, sharedKeyBody } from './control-memory.ts'
import type { ControlStep } from './control-stream.ts'
import { givenOptions } from './given-options.ts'
import { checkedKey, noteBody } from './memory-note.ts'
import { checkCommandId } from './operator-requests.ts'
import { listNotes, type MemoryReader, type NoteEntry, readNote } from './read-memory.ts'

interface CommandOptions {
  /** A repeat with the same id and body returns the first receipt; with another body it is refused. */
  readonly commandId?: string
}

interface SharedChange {
  readonly action: 'promote' | 'remove'
  readonly owner: MemoryOwner
  readonly key: string
  /** The canonical JSON of the value; null: the note goes. */
  readonly body: string | null
  readonly commandId: string | null
}

type Submit = (name: CommandName, body: object, commandId: string | undefined) => Promise<Receipt>

/**
 * The notes of one session, and those of its user and tenant as far as they concern it. A note is the session's own until it is
 * promoted, which the host's policy decides and the control stream records, whatever it decides.
 */
export class SessionMemory {
  readonly #reader: MemoryReader
  readonly #submit: Submit

  constructor(reader: MemoryReader, submit: Submit) {
    this.#reader = reader
    this.#submit = submit
  }

  async get(key: string, scope: MemoryScope = 'session'): Promise<Json | undefined> {
    return (await readNote(this.#reader, key, scope))?.value
  }

  /** Keys and sizes, in the order of the keys. */
  async list(scope: MemoryScope = 'session'): Promise<readonly NoteEntry[]> {
    return listNotes(this.#reader, scope)
  }

  async put(key: string, value: Json, options: CommandOptions = {}): Promise<Receipt> {
    const { limits } = this.#reader.services.host
    const body = { key: checkedKey(limits, key), value: JSON.parse(noteBody(limits, value)) as Json }
    return this.#submit('memoryPut', body, givenOptions(options).commandId)
  }

  async remove(key: string, options: CommandOptions & { scope?: MemoryScope } = {}): Promise<Receipt> {
    const { scope = 'session', commandId } = givenOptions(options)
    const name = checkedKey(this.#reader.services.host.limits, key)
    if (scope === 'session') return this.#submit('memoryRemove', { key: name }, commandId)
    return this.#change('remove', { key: name, to: scope }, commandId)
  }

  /** Copies a note of the session to its user or tenant, where other sessions read it, if the host's policy allows it. */
  async promote(key: string, options: CommandOptions & { to: SharedScope }): Promise<Receipt> {
    const { to, commandId } = givenOptions(options)
    return this.#change('promote', { key: checkedKey(this.#reader.services.host.limits, key), to }, commandId)
  }

  async #change(
    action: 'promote' | 'remove',
    { key, to }: { key: string; to: unknown },
    id: string | undefined,
  ): Promise<Receipt> {
    if (to !== 'user' && to !== 'tenant')
      throw new LandfallError('INVALID_INPUT', 'A note is promoted to the user or to the tenant.', {
        details: { field: 'to' },
      })
    const { host } = this.#reader.services
    const commandId = id === undefined ? null : checkCommandId(host, id)
    const owner = ownerOf(this.#reader.scope, to)
    const found = await readNote(this.#reader, key, action === 'promote' ? 'session' : to)
    const change = { action, owner, key, commandId, body: null }
    if (found === null) return this.#absent(change)
    const body = action === 'promote' ? noteBody(host.limits, found.value) : null
    const allowed = await this.#isAllowed({ ...change, body }, found.value)
    return this.#append({ ...change, body }, allowed)
  }

  /** A repeat of a removal finds nothing any more, and is a repeat all the same. */
  async #absent(change: SharedChange): Promise<Receipt> {
    const { control } = this.#reader.services
    await control.refresh()
    const secret = await control.key()
    if (secret !== null && this.#isRepeated(change, secret)) return receipt('duplicate', change)
    throw new LandfallError('NOT_FOUND', 'No such note in this memory.', { details: { refused: true } })
  }

  /** A policy that throws, or answers anything but `allow`, denies. */
  async #isAllowed({ action, owner, key }: SharedChange, value: Json): Promise<boolean> {
    const { memoryPolicy } = this.#reader.services.host
    if (memoryPolicy === null) return false
    try {
      const question = { scope: this.#reader.scope, action, to: owner.scope, key, value }
      return (await memoryPolicy(question)) === 'allow'
    } catch {
      return false
    }
  }

  async #append(change: SharedChange, allowed: boolean): Promise<Receipt> {
    const { control } = this.#reader.services
    let repeated = false
    await control.appendStep(this.#reader.scope.user, (secret) => {
      repeated = this.#isRepeated(change, secret)
      return repeated ? null : this.#step(change, allowed, secret)
    })
    if (repeated) return receipt('duplicate', change)
    if (allowed) return receipt('applied', change)
    throw new LandfallError('AUTHORIZATION_DENIED', 'The policy of the host does not allow it. It was recorded.', {
      details: { to: change.owner.scope, refused: true },
    })
  }

  #isRepeated({ action, owner, key, commandId }: SharedChange, secret: string): boolean {
    if (commandId === null) return false
    const { control } = this.#reader.services
    const before = control.memory.decided(this.#reader.scope, commandId)
    if (before === undefined) return false
    const type = action === 'promote' ? 'memory.promoted' : 'memory.removed'
    const digest = keyedDigest(secret, sharedKeyBody(owner, key))
    if (before.type === type && before.key === digest && before.scope === owner.scope) return true
    throw new LandfallError('COMMAND_CONFLICT', 'This command id was used for another command. Use a new id.', {
      details: { command: commandId, refused: true },
    })
  }

  /** What is denied is recorded by digests whose content is stored nowhere. */
  #step({ action, owner, key, body, commandId }: SharedChange, allowed: boolean, secret: string): ControlStep {
    const keyBody = sharedKeyBody(owner, key)
    const { tenant, user, session } = this.#reader.scope
    const about = { key: keyedDigest(secret, keyBody), scope: owner.scope, of: { tenant, user, session } }
    const command = commandId === null ? {} : { command: commandId }
    const decision = allowed ? 'allowed' : 'denied'
    if (action === 'remove' || body === null)
      return { facts: [{ type: 'memory.removed', data: { ...about, decision } }], ...command }
    const value = { digest: keyedDigest(secret, body), bytes: Buffer.byteLength(body) }
    const promoted = { type: 'memory.promoted', data: { ...about, ...value, decision } } as const
    if (!allowed) return { facts: [promoted], ...command }
    this.#checkRoom(owner, about.key)
    return {
      facts: [promoted, { type: 'memory.put', data: { ...about, ...value } }],
      contents: [
        { digest: about.key, body: keyBody },
        { digest: value.digest, body },
      ],
      ...command,
    }
  }

  #checkRoom(owner: MemoryOwner, key: string): void {
    const { control, host } = this.#reader.services
    const bound = host.limits.memoryItems
    const got = control.memory.notes(owner).length + 1
    if (got <= bound || control.memory.find(owner, key) !== undefined) return
    throw new LandfallError('LIMIT_EXCEEDED', 'This memory holds as many notes as it may. Remove one first.', {
      details: { which: 'memoryItems', bound, got, refused: true },
    })
  }
}

function receipt(result: Receipt['result'], { commandId }: SharedChange): Receipt {
  return { result, ...(commandId === null ? {} : { command: commandId }) }
}
