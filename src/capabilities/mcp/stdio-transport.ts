import type { ChildProcess } from 'node:child_process'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { systemClock, systemScheduler } from '../../facts/system-ports.ts'
import { groupGone, signalGroup, startGroup, stopGroup } from '../process-group.ts'

export interface StdioServer {
  readonly argv: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** What a server may see of our environment without being told: enough to run, and no keys. */
const inherited = ['HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER']
const politeMs = 250
const errorTailBytes = 2_048
const mostUntold = 256

/**
 * Owns: a server's process, in a group of its own, and the two pipes to it.
 * 1. A line is a message; one beyond the bound ends the process, because what comes behind it cannot be told apart any more.
 * 2. Messages are told one after the other, each with a turn of its own: who hears of progress must hear it before the answer.
 * 3. `onclose` is called once, when the process has ended, whatever ended it.
 * 4. What has been read and not been told is bounded: a server that writes faster than it is heard waits.
 * 5. After `close` nobody of the group is left; who left the group, in a session of his own, is not found again.
 */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** The end of what the server wrote to its standard error: why it did not start. */
  errorTail = ''
  readonly #server: StdioServer
  readonly #messageBytes: number
  #child: ChildProcess | null = null
  #ended = false
  #told: Promise<void> = Promise.resolve()
  #untold = 0
  #rest: Buffer[] = []
  #restBytes = 0

  constructor(server: StdioServer, messageBytes: number) {
    this.#server = server
    this.#messageBytes = messageBytes
  }

  async start(): Promise<void> {
    const { argv, cwd, env } = this.#server
    const told = inherited.flatMap((name): [string, string][] => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    })
    const place = cwd === undefined ? {} : { cwd }
    const child = startGroup(argv, { stdin: 'pipe', env: { ...Object.fromEntries(told), ...env }, ...place })
    this.#child = child
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk))
    child.stderr?.on('data', (chunk: Buffer) => {
      this.errorTail = `${this.errorTail}${chunk.toString('utf8')}`.slice(-errorTailBytes)
    })
    child.stdin?.on('error', (error) => this.onerror?.(error))
    // What it wrote before its end is read first; a descendant that keeps the pipes open is not waited for.
    child.once('exit', () => {
      signalGroup(child, 'SIGKILL')
      void later(politeMs).then(() => this.#end())
    })
    child.once('close', () => this.#end())
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) => {
        this.#end()
        reject(error)
      })
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (this.#ended || stdin == null || !stdin.writable) return Promise.reject(new Error('The server has ended.'))
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
    })
  }

  async close(): Promise<void> {
    const child = this.#child
    if (child === null) return
    child.stdin?.end()
    if (!this.#ended) {
      await Promise.race([this.#exit(child), later(politeMs)])
      if (!this.#ended) stopGroup(child)
      if (!this.#ended) await this.#exit(child)
    }
    signalGroup(child, 'SIGKILL')
    await groupGone(child)
  }

  #exit(child: ChildProcess): Promise<void> {
    if (this.#ended) return Promise.resolve()
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
    return new Promise((resolve) => void child.once('exit', () => resolve()))
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#inTurn(() => this.onclose?.())
  }

  #read(chunk: Buffer): void {
    let rest = chunk
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      this.#rest.push(rest.subarray(0, at))
      const line = Buffer.concat(this.#rest)
      this.#rest = []
      this.#restBytes = 0
      rest = rest.subarray(at + 1)
      if (line.length > this.#messageBytes) return this.#flooded()
      if (line.length > 0) this.#inTurn(() => this.#heard(line))
    }
    this.#rest.push(rest)
    this.#restBytes += rest.length
    if (this.#restBytes > this.#messageBytes) this.#flooded()
  }

  #inTurn(tell: () => void): void {
    this.#untold += 1
    if (this.#untold === mostUntold) this.#child?.stdout?.pause()
    this.#told = this.#told
      .then(tell)
      .then(nextTurn)
      .then(() => {
        this.#untold -= 1
        if (this.#untold === 0) this.#child?.stdout?.resume()
      })
  }

  #heard(line: Buffer): void {
    try {
      this.onmessage?.(JSON.parse(line.toString('utf8')) as JSONRPCMessage)
    } catch (error) {
      // What is no message, such as a line that was meant for a log, is not taken for one.
      this.onerror?.(error instanceof Error ? error : new Error('a line is no message'))
    }
  }

  #flooded(): void {
    this.#rest = []
    this.#restBytes = 0
    this.onerror?.(new Error('a message is larger than its bound'))
    if (this.#child !== null) signalGroup(this.#child, 'SIGKILL')
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => systemScheduler().soon(resolve))
}

/** Real time, whatever time the runtime lives in: a process is real. */
function later(ms: number): Promise<void> {
  return new Promise((resolve) => void systemScheduler().at(systemClock.now() + ms, resolve))
}
