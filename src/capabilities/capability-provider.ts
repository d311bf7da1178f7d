import type { Limits } from '../facts/limits.ts'
import type { Clock, Logger, Scheduler } from '../facts/ports.ts'
import type { Capability } from './catalog.ts'
import type { ToolDefinition } from './define-tool.ts'

/** What a runtime gives a provider that it binds. */
export interface ProviderHooks {
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly logger: Logger
  readonly limits: Limits
  /** The provider offers something else from now on; references to what it offered before are stale. */
  readonly changed: (offer: readonly ToolDefinition[]) => void
}

/** A provider as one runtime has bound it. */
export interface BoundProvider {
  readonly offer: readonly ToolDefinition[]
  /** Lets go of all that the provider holds: connections, and processes with their descendants. */
  close(): Promise<void>
}

/** Somebody else who offers capabilities, such as a server. Each runtime that it is given to binds it for itself. */
export interface CapabilityProvider {
  readonly kind: 'provider'
  /** As references name it, and as it can be disabled. */
  readonly provider: string
  bind(hooks: ProviderHooks): Promise<BoundProvider>
}

export function isProvider(item: Capability | CapabilityProvider): item is CapabilityProvider {
  const { kind, provider, bind } = (item ?? {}) as Partial<CapabilityProvider>
  return kind === 'provider' && typeof provider === 'string' && typeof bind === 'function'
}

/** What the host brings itself. */
export function ownCapabilities(given: readonly (Capability | CapabilityProvider)[]): readonly Capability[] {
  return given.filter((item): item is Capability => !isProvider(item))
}
