/** The server: the protocol as an app for a host, or as a server of its own. */
export {
  type CreateServerOptions,
  createServer,
  type LandfallServer,
  type ListenOptions,
  requestListener,
} from './create-server.ts'
export { type Credentials, type ElevatedScope, type Identify, type Identity, identityRequired } from './identity.ts'
export { type JwtOptions, jwtIdentity } from './jwt-identity.ts'
export { type KeySet, loadKeySet, localKeySet } from './key-set.ts'
export { localIdentity } from './local-identity.ts'
export { serverApp } from './server-app.ts'
export type { RequestRecord, ServerOptions, SiteFile } from './server-options.ts'
