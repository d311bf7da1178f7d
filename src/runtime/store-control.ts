import type { Capability } from '../capabilities/catalog.ts'
import { LandfallError } from '../facts/errors.ts'
import { checkId } from '../facts/ids.ts'
import { checkedIdentifier } from './checked-scope.ts'
import type { ControlStream } from './control-stream.ts'
import type { Host } from './options.ts'
import { checkName } from './turn-settings.ts'

/** What a host says about capabilities for the whole store: at once, durably, in every process, over running tasks too. */
export class StoreControl {
  readonly #host: Host
  readonly #stream: ControlStream

  constructor(host: Host, stream: ControlStream) {
    this.#host = host
    this.#stream = stream
  }

  get generation(): number {
    return this.#host.catalog.generation
  }

  /**
   * Another offer of the host from now on: tasks that start see it, and every reference to the one before is stale. What bound
   * providers offer is theirs to change, and stands.
   */
  replace(capabilities: readonly Capability[]): void {
    const { catalog, workspaces } = this.#host
    const provided = [...catalog.entries()].flatMap((entry) =>
      entry.kind === 'tool' && entry.ref.provider.startsWith('mcp:') ? [entry.tool] : [],
    )
    catalog.replace([...(workspaces?.tools ?? []), ...capabilities, ...provided])
  }

  async revoke(capability: string, actor = 'host'): Promise<void> {
    const id = this.#capability(capability)
    await this.#stream.append(this.#actor(actor), { type: 'capability.revoked', data: { id } })
  }

  async disableProvider(provider: string, actor = 'host'): Promise<void> {
    const id = this.#provider(provider)
    await this.#stream.append(this.#actor(actor), { type: 'provider.disabled', data: { id } })
  }

  async enableProvider(provider: string, actor = 'host'): Promise<void> {
    const id = this.#provider(provider)
    await this.#stream.append(this.#actor(actor), { type: 'provider.enabled', data: { id } })
  }

  #actor(given: string): string {
    return checkedIdentifier(this.#host.redactor, 'actor', given)
  }

  /** One that the host does not have now may be one that it had, or will have. */
  #provider(given: string): string {
    const id = checkId('provider', given)
    checkName(id, 'provider', this.#host.redactor)
    return id
  }

  /** `tool:name`, or the name alone for a tool of the host. */
  #capability(given: string): string {
    const id = given.includes(':') ? given : `tool:${given}`
    if (this.#host.catalog.get(id) !== null) return id
    throw new LandfallError('NOT_FOUND', 'The catalog has no such capability.', { details: { capability: given } })
  }
}
