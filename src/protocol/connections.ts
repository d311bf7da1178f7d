import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Runtime } from '../runtime/open-runtime.ts'

/** How often a closing server looks for connections at rest. */
const restMs = 10
/** How long nothing may come or go on a connection of a closing server. */
const stallMs = 250

/**
 * Owns: the connections of one server.
 * 1. A closing server lets go of a connection as soon as nothing is said on it any more, and of one on which something is to be
 *    said as soon as its client stops taking it: who never reads, or never ends a request, holds nothing up.
 */
export class Connections {
  readonly #server: Server
  readonly #all = new Set<Socket>()

  constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket: Socket) => {
      this.#all.add(socket)
      socket.once('close', () => this.#all.delete(socket))
    })
  }

  /** Begun once everything has been said; what is returned ends it. */
  closeAsTheyRest({ ports }: Runtime): () => void {
    for (const socket of this.#all) {
      // Progress with a part of a long answer counts, as Node counts it.
      socket.setTimeout(stallMs, () => socket.destroy())
    }
    let cancel = () => {}
    const look = () => {
      this.#server.closeIdleConnections()
      cancel = ports.background.at(ports.clock.now() + restMs, look)
    }
    look()
    return () => cancel()
  }
}
