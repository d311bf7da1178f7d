import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Owns, for each connection, the responses that have not closed.
 * 1. When a connection is gone, so are all of them. Node closes the one whose turn it is; what a client asked for behind it on the
 *    same connection, such as another stream, would otherwise be held for ever.
 */
export class WaitingResponses {
  readonly #of = new WeakMap<Socket, Set<ServerResponse>>()

  add(incoming: unknown, outgoing: unknown): void {
    if (!(incoming instanceof IncomingMessage && outgoing instanceof ServerResponse)) return
    const waiting = this.#of.get(incoming.socket) ?? this.#begun(incoming.socket)
    waiting.add(outgoing)
    outgoing.once('close', () => waiting.delete(outgoing))
  }

  #begun(socket: Socket): Set<ServerResponse> {
    const waiting = new Set<ServerResponse>()
    this.#of.set(socket, waiting)
    socket.once('close', () => {
      for (const outgoing of waiting) {
        // One that has no socket yet is not told by Node.
        if (outgoing.socket !== null) continue
        outgoing.destroy()
        outgoing.emit('close')
      }
    })
    return waiting
  }
}
