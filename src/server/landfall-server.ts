import { consoleSite } from '../inspector/console-site.ts'
import { ownCharts } from '../inspector/own-charts.ts'
import * as protocol from '../protocol/create-server.ts'
import * as app from '../protocol/server-app.ts'
import type { ServerOptions } from '../protocol/server-options.ts'
import type { Runtime } from '../runtime/open-runtime.ts'

/*
 * The protocol, with what folders beside it have to show. They do not know each other; this is where they meet.
 */
const shown = { machines: ownCharts } satisfies ServerOptions

/** The whole of the protocol as one Hono app, for `route()` of a host's own app. The runtime stays the host's. */
export function serverApp(runtime: Runtime, options: ServerOptions = {}): ReturnType<typeof app.serverApp> {
  return app.serverApp(runtime, { ...shown, ...options })
}

/** A Node server with the app, and the console at `/`; it begins with `listen`. */
export function createServer(runtime: Runtime, options: protocol.CreateServerOptions = {}): protocol.LandfallServer {
  return protocol.createServer(runtime, { ...shown, site: consoleSite(), ...options })
}
