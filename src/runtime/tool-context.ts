import type { Json } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import type { PauseRequest, ToolMemory } from '../capabilities/define-tool.ts'
import { LandfallError } from '../facts/errors.ts'
import { lookAtWorld } from './look-at-world.ts'
import type { Mailbox } from './mailbox.ts'
import { checkedKey, noteBody } from './memory-note.ts'
import { operatorRequest } from './operator-requests.ts'
import { readNote } from './read-memory.ts'
import type { Services } from './services.ts'
import type { Step } from './step.ts'

/** What `ctx.pause` throws: it ends the attempt before its effect. */
export class PauseSignal extends Error {
  readonly request: PauseRequest
  constructor(request: PauseRequest) {
    super('The call waits for an answer.')
    this.request = request
  }
}

/** A tool that does not wait for its own pause must not bring the process down with it. */
export function pauseWith(request: PauseRequest): Promise<never> {
  const pause = Promise.reject(new PauseSignal(request))
  pause.catch(() => {})
  return pause
}

export interface ToolMemoryPorts {
  readonly services: Services
  readonly session: Mailbox
  readonly tool: string
  /** The fact that started the attempt. */
  readonly cause: string | null
  /** An attempt that nobody waits for any more writes nothing. */
  readonly isRunning: () => boolean
}

/** Notes as a call reads and writes them: what it wrote is durable when it is told so. */
export function memoryOf(ports: ToolMemoryPorts): ToolMemory {
  const { services, session, tool, cause } = ports
  const look = <T>(read: (world: World) => T) => lookAtWorld(services, session.scope, { known: () => session }, read)
  return {
    get: async (key, scope = 'session') =>
      (await readNote({ services, scope: session.scope, look }, key, scope))?.value,
    put: async (key, value) => {
      const { limits } = services.host
      const body = { key: checkedKey(limits, key), value: JSON.parse(noteBody(limits, value)) as Json }
      if (!ports.isRunning()) throw ended()
      const request = operatorRequest(services.host, session.scope, { name: 'memoryPut', body })
      const build = (step: Step) => {
        if (!ports.isRunning()) throw ended()
        return request.build(step)
      }
      await session.carryOut({ ...request, by: { kind: 'capability', id: tool }, cause, build })
    },
  }
}

function ended(): LandfallError {
  return new LandfallError('INVALID_TRANSITION', 'The call has ended; nothing is noted for it any more.', {
    details: { refused: true },
  })
}
