import { entryPoints, loadModule, type Runtime, type Scope } from './product.ts'

/** A server with the console, and the headers under which it shows a scope. */
export interface ConsoleServer {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly scope: Scope
  close(): Promise<void>
}

interface Server {
  listen(): Promise<string>
  close(): Promise<void>
}

export async function serveConsole(runtime: Runtime, scope: Scope): Promise<ConsoleServer> {
  const loaded = await loadModule(entryPoints.server)
  if ('missing' in loaded) throw new Error(loaded.missing)
  const { createServer, consoleSite } = loaded.found as {
    createServer: (runtime: Runtime, options: { readonly site: unknown }) => Server
    consoleSite: () => unknown
  }
  const server = createServer(runtime, { site: consoleSite() })
  const url = await server.listen()
  const headers = { 'x-landfall-tenant': scope.tenant, 'x-landfall-user': scope.user }
  return { url, headers, scope, close: () => server.close() }
}
