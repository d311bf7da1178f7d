import type Docker from 'dockerode'
import { isLandfallError, OutcomeUnknownError } from '../facts/errors.ts'
import { systemClock, systemRandom, systemScheduler } from '../facts/system-ports.ts'
import { containerOf, dockerScript } from './docker-container.ts'
import { DockerReply } from './docker-reply.ts'
import { boundsByEngine, type EngineInfo } from './held-bounds.ts'
import type { LeaseRecord, Leases } from './leases.ts'
import type { Sandbox, SandboxBounds, SandboxEnd, SandboxReport, SandboxRun } from './sandbox.ts'
import { SandboxArchive } from './sandbox-archive.ts'
import { type Ended, endedEarly, SandboxOutput, sandboxFailed } from './sandbox-output.ts'
import { tarOf } from './tar.ts'
import { emptyTree } from './tree.ts'

export const defaultImage = 'node:22-bookworm-slim'

export interface DockerOptions {
  readonly bounds: SandboxBounds
  readonly leases: Leases
  /** Has a shell, tar, and what the programs need. It is never pulled by itself. */
  readonly image?: string
  /** Absent: what DOCKER_HOST says, or the usual socket. */
  readonly socketPath?: string
}

const answerMs = 5_000
const madeWithinMs = 10_000
const sweepPollMs = 250

/**
 * Owns: containers of a Docker engine, each for one program.
 * 1. A container is removed before its run settles; one that a crash leaves ends by itself soon, and is swept by its lease.
 * 2. The tree is copied in and out as a stream; nothing of the host is mounted.
 */
export function dockerSandbox(options: DockerOptions): Sandbox {
  return {
    isolation: 'docker',
    report: () => reportOf(options),
    run: (asked) => runIn(options, asked),
  }
}

/** A container that is not there may still be made by the engine, for a process that was ended while it asked for it. */
export async function sweepDocker(record: LeaseRecord, takenMs: number, socketPath?: string): Promise<void> {
  if (record.container === null) return
  const container = (await connected(socketPath)).getContainer(record.container)
  const until = takenMs + madeWithinMs
  while (!(await removed(container)) && systemClock.now() < until) await pause(sweepPollMs)
}

/** Loaded when first used, so that whoever needs no Docker pays nothing for it. */
async function connected(socketPath: string | undefined): Promise<Docker> {
  const { default: Engine } = await import('dockerode')
  return socketPath === undefined ? new Engine() : new Engine({ socketPath })
}

async function runIn(options: DockerOptions, run: SandboxRun): Promise<SandboxEnd> {
  const { leases, bounds, image = defaultImage, socketPath } = options
  run.signal.throwIfAborted()
  const engine = await connected(socketPath)
  const lease = leases.take((id) => ({ isolation: 'docker', groups: [], container: `landfall-${id}` }))
  const script = dockerScript(bounds, run)
  const spec = containerOf({ name: `landfall-${lease.id}`, image, bounds, command: [script, 'sh', ...run.argv] })
  let container: Docker.Container
  try {
    container = await engine.createContainer(spec)
  } catch (error) {
    // An engine that was lost while it was asked may have made it, and then it stays in its lease.
    if (statusOf(error) > 0) lease.release()
    throw engineFailed(error, image)
  }
  const begun = new DockerRun(container, bounds, run)
  try {
    return await begun.ended()
  } catch (error) {
    throw run.signal.aborted || isLandfallError(error) ? error : engineFailed(error, image)
  } finally {
    await removed(container).then(
      () => lease.release(),
      () => {
        // What is known to have ended may be swept later; of anything else nobody knows whether it still runs.
        if (!begun.isOver) throw new OutcomeUnknownError('The engine does not say whether the program has stopped.')
      },
    )
  }
}

class DockerRun {
  readonly #container: Docker.Container
  readonly #bounds: SandboxBounds
  readonly #run: SandboxRun
  readonly #output: SandboxOutput
  readonly #archive: SandboxArchive
  /** The engine has said that the first process is gone, and with it all others; or none was ever started. */
  isOver = true
  #why: Ended | null = null

  constructor(container: Docker.Container, bounds: SandboxBounds, run: SandboxRun) {
    this.#container = container
    this.#bounds = bounds
    this.#run = run
    this.#output = new SandboxOutput(bounds.outputBytes, () => this.#end('flood'))
    this.#archive = new SandboxArchive(bounds, () => this.#end('archive'))
  }

  async ended(): Promise<SandboxEnd> {
    const { signal, timeoutMs, tree } = this.#run
    const mark = Buffer.from(systemRandom.bytes(16)).toString('hex')
    const stream = await this.#container.attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true })
    const reply = new DockerReply(mark, this.#output, this.#archive)
    const closed = new Promise<void>((resolve) => {
      stream.on('data', (chunk: Buffer) => reply.push(chunk))
      // Whatever ends the stream, the container's own end is what counts.
      stream.once('error', () => resolve())
      stream.once('end', () => resolve())
      stream.once('close', () => resolve())
    })
    const stop = () => this.#end('abort')
    signal.addEventListener('abort', stop, { once: true })
    let cancelTimer = () => {}
    try {
      if (signal.aborted) throw signal.reason
      this.isOver = false
      const exited = this.#exited()
      await this.#container.start()
      // What was told to stop while the engine was starting it was not there to be stopped.
      if (signal.aborted) stop()
      cancelTimer = systemScheduler().at(systemClock.now() + timeoutMs, () => this.#end('timeout'))
      stream.end(Buffer.concat([Buffer.from(`${mark}\n`), tarOf(tree, Math.floor(systemClock.now() / 1_000))]))
      const code = await exited
      this.isOver = true
      await closed
      return this.#outcome(code)
    } finally {
      cancelTimer()
      signal.removeEventListener('abort', stop)
      stream.removeAllListeners('data')
      stream.end()
    }
  }

  /** Asked before the start: a container that has ended is removed by the engine, which then knows nothing of it any more. */
  #exited(): Promise<number | null> {
    const exited = this.#container.wait({ condition: 'next-exit' }).then(
      ({ StatusCode }: { StatusCode: number }) => StatusCode,
      (error: unknown) => {
        if (statusOf(error) === 404) return null
        throw error
      },
    )
    // Nobody waits for it where the start fails.
    exited.catch(() => {})
    return exited
  }

  #outcome(code: number | null): SandboxEnd {
    if (this.#why === 'abort') throw this.#run.signal.reason
    if (this.#why === 'timeout') throw endedEarly('timeout', this.#run.timeoutMs)
    if (this.#why === 'flood') throw endedEarly('flood', this.#bounds.outputBytes)
    const { exitCode } = this.#archive
    if (exitCode === null) throw sandboxFailed(code === 137 ? 'its memory was used up' : 'it was ended from inside')
    const tree = this.#archive.tree()
    if (code === null) throw sandboxFailed('the engine does not say how it ended')
    if (code !== 0) throw sandboxFailed('what the program left cannot be read')
    return { exitCode, stdout: this.#output.text('stdout'), stderr: this.#output.text('stderr'), tree }
  }

  /** An engine that does not answer leaves the run unsettled: then nobody knows whether the program has stopped. */
  #end(why: Ended): void {
    this.#why ??= why
    this.#container.kill().catch(() => {})
  }
}

function statusOf(error: unknown): number {
  return error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 0
}

/** Done when there is no such container any more; says whether there was one. */
async function removed(container: Docker.Container): Promise<boolean> {
  try {
    await container.remove({ force: true, v: true })
  } catch (error) {
    if (statusOf(error) === 404) return false
    // Somebody else removes it already.
    if (statusOf(error) !== 409) throw error
    await container.wait({ condition: 'removed' }).catch(() => {})
  }
  return true
}

/** In the background: nobody waits for what is swept. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemScheduler({ background: true }).at(systemClock.now() + ms, resolve)
  })
}

function engineFailed(error: unknown, image: string): Error {
  if (statusOf(error) === 404) return sandboxFailed(`the engine has no image ${image}; docker pull ${image}`)
  return sandboxFailed(`the Docker engine says ${error instanceof Error ? error.message : String(error)}`)
}

async function reportOf(options: DockerOptions): Promise<SandboxReport> {
  const { image = defaultImage, socketPath } = options
  const missing = (detail: string): SandboxReport => ({ works: false, detail, bounds: [] })
  try {
    const engine = await connected(socketPath)
    const info = (await withinAnswer(engine.info())) as EngineInfo
    await withinAnswer(engine.getImage(image).inspect())
    const problem = await tried(options)
    if (problem !== null) return missing(`${problem} The image ${image} needs a shell and tar.`)
    return { works: true, detail: `engine ${info.ServerVersion}, image ${image}`, bounds: boundsByEngine(info) }
  } catch (error) {
    if (statusOf(error) === 404) return missing(`the engine has no image ${image}. Get it with: docker pull ${image}`)
    return missing('no Docker engine answers. Install and start one: apt-get install -y docker.io')
  }
}

async function tried(options: DockerOptions): Promise<string | null> {
  const run = { tree: emptyTree, argv: ['true'], cwd: '', timeoutMs: answerMs, signal: new AbortController().signal }
  try {
    const { exitCode } = await runIn(options, run)
    return exitCode === 0 ? null : `A first program ended with ${exitCode}.`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function withinAnswer<T>(answer: Promise<T>): Promise<T> {
  let cancel = () => {}
  const late = new Promise<never>((_, reject) => {
    cancel = systemScheduler().at(systemClock.now() + answerMs, () => reject(new Error('no answer')))
  })
  return Promise.race([answer, late]).finally(cancel)
}
