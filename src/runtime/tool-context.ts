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

/** Session memory is not there yet; a tool that asks for it is told so, instead of losing a note. */
export function memoryOf(): ToolMemory {
  const refuse = () =>
    Promise.reject(new LandfallError('NOT_SUPPORTED', 'Session memory is not available in this version.'))
  return { get: refuse, put: refuse }
}
