/** The server: the protocol as an app for a host, or as a server of its own. */
export { type ConsoleFile, consoleSite } from '../inspector/console-site.ts'
export {
  type CreateServerOptions,
  type LandfallServer,
  type ListenOptions,
  requestListener,
} from '../protocol/create-server.ts'
export {
  type Credentials,
  type ElevatedScope,
  type Identify,
  type Identity,
  identityRequired,
} from '../protocol/identity.ts'
export { type JwtOptions, jwtIdentity } from '../protocol/jwt-identity.ts'
export { type KeySet, loadKeySet, localKeySet } from '../protocol/key-set.ts'
export { localIdentity } from '../protocol/local-identity.ts'
export type { RequestRecord, ServerOptions, SiteFile } from '../protocol/server-options.ts'
export { type PinoLoggerOptions, pinoLogger } from '../telemetry/pino-logger.ts'
export { SpanIds } from '../telemetry/span-ids.ts'
export { type Telemetry, type TelemetryOptions, telemetry } from '../telemetry/telemetry.ts'
export { createServer, serverApp } from './landfall-server.ts'
