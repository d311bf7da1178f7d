import type { PauseRequest, ToolMemory } from '../capabilities/define-tool.ts'
import { LandfallError } from '../facts/errors.ts'

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

/** Session memory is not there yet; a tool that asks for it is told so, instead of losing a note. */
export function memoryOf(): ToolMemory {
  const refuse = () =>
    Promise.reject(new LandfallError('NOT_SUPPORTED', 'Session memory is not available in this version.'))
  return { get: refuse, put: refuse }
}
