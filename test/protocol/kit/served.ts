import { onTestFinished } from 'vitest'
import type { Log } from '../../../src/facts/log-port.ts'
import { sqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import type { Script } from '../../../src/models/script.ts'
import { scriptedModel } from '../../../src/models/scripted-model.ts'
import { type CreateServerOptions, createServer, type LandfallServer } from '../../../src/protocol/create-server.ts'
import { openRuntime, type Runtime } from '../../../src/runtime/open-runtime.ts'
import type { RuntimeOptions } from '../../../src/runtime/options.ts'
import { tempFile } from '../../log/temp-store.ts'

export interface Served {
  readonly url: string
  readonly server: LandfallServer
  readonly runtime: Runtime
  readonly log: Log
  close(): Promise<void>
}

interface ServedOptions extends Partial<Omit<RuntimeOptions, 'log'>> {
  readonly file?: string
  readonly script?: Script
  readonly server?: CreateServerOptions
}

/** A real server on the loopback, over a runtime on a real file. */
export async function served(options: ServedOptions = {}): Promise<Served> {
  const on = await serving({ file: tempFile(), ...options })
  onTestFinished(on.close)
  return on
}

/** The same for several tests: who asks for it closes it. */
export async function serving(options: ServedOptions & { readonly file: string }): Promise<Served> {
  const { file, script, server: serverOptions, ...host } = options
  const log = sqliteLog(file)
  const model = scriptedModel(script ?? { name: 'echo', everyTurn: [{ text: 'You said {{input}}' }] })
  const runtime = await openRuntime({ log, model, ...host, limits: { graceMs: 200, ...host.limits } })
  const server = createServer(runtime, { ownsRuntime: true, ...serverOptions })
  const url = await server.listen()
  let closing: Promise<void> | null = null
  const close = () => {
    closing ??= server
      .close()
      .then(() => runtime.close())
      .then(() => log.close())
    return closing
  }
  return { url, server, runtime, log, close }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

/** JSON as a test reads it: whatever is there. */
export type Body = ReturnType<JSON['parse']>

export type Named = Readonly<Record<string, string>>

export async function ask(
  method: string,
  address: string,
  given: { body?: unknown; headers?: Named } = {},
): Promise<Answer> {
  const { body, headers = {} } = given
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const response = await fetch(address, init)
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

export const get = (address: string, headers: Named = {}): Promise<Answer> => ask('GET', address, { headers })

export const post = (address: string, body: unknown = {}, headers: Named = {}): Promise<Answer> =>
  ask('POST', address, { body, headers })
