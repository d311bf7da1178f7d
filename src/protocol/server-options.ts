import type { Identify } from './identity.ts'

/** What is told about a request when it has been answered. No part of it is content or says whose it was. */
export interface RequestRecord {
  readonly method: string
  /** The pattern of the route, never the path: that holds ids. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
}

/** A file that is served to a browser. */
export interface SiteFile {
  readonly contentType: string
  readonly body: string | Uint8Array<ArrayBuffer>
  /** The content security policy to show it under; absent: only what comes from here runs. */
  readonly policy?: string
}

export interface ServerOptions {
  /** Who asks; absent: whoever is on this machine says so in headers (`localIdentity`). */
  readonly identity?: Identify
  /** Hears of every request when it has been answered. */
  readonly onRequest?: (record: RequestRecord) => void
  /** The text of `/metrics`, in the format of Prometheus; absent: there is no such route. */
  readonly metrics?: () => string | Promise<string>
  /** The charts by name, for `/v1/machines`. */
  readonly machines?: () => { readonly [name: string]: unknown }
  /** Files for a browser, by path from `/`; null: there is none. Absent: a plain page at `/`. */
  readonly site?: (path: string) => SiteFile | null | Promise<SiteFile | null>
  readonly version?: string
}
