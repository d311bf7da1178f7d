import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What is asked of an engine: `POST /containers/x/wait`. */
export type EngineRequest = string

export interface EngineProxy {
  readonly socketPath: string
  readonly asked: readonly EngineRequest[]
  /** Names of containers that were asked for. */
  readonly names: readonly string[]
  stop(): Promise<void>
}

/** Stands before an engine. A request is passed on when `before` lets it; `lost` cuts the connection once it was passed on. */
export async function engineProxy(
  engine: string,
  on: { before?: (asked: EngineRequest) => Promise<void> | undefined; lost?: (asked: EngineRequest) => boolean },
): Promise<EngineProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-proxy-'))
  const socketPath = join(folder, 'proxy.sock')
  const asked: EngineRequest[] = []
  const names: string[] = []
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ path: engine, allowHalfOpen: true })
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    let passed = Promise.resolve()
    client.on('data', (chunk: Buffer) => {
      const head = chunk.toString('latin1', 0, 300)
      const found = /^([A-Z]+ \/\S*?)[? ]/.exec(head)?.[1]
      const name = /^POST \/containers\/create\?name=([\w-]+)/.exec(head)?.[1]
      if (name !== undefined) names.push(name)
      if (found !== undefined) asked.push(found)
      passed = passed.then(async () => {
        if (found !== undefined) await on.before?.(found)
        upstream.write(chunk, () => {
          if (found !== undefined && on.lost?.(found) === true) client.destroy()
        })
      })
    })
    client.on('end', () => void passed.then(() => upstream.end()))
    upstream.on('data', (chunk) => client.write(chunk))
    upstream.on('end', () => client.end())
  })
  await new Promise<void>((done) => server.listen(socketPath, done))
  const stop = async () => {
    for (const socket of open) socket.destroy()
    await new Promise<void>((done) => server.close(() => done()))
    rmSync(folder, { recursive: true, force: true })
  }
  return { socketPath, asked, names, stop }
}
