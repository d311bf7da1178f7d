import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import Docker from 'dockerode'
import { hostProcesses } from '../../../src/facts/processes.ts'
import { entry } from '../../../src/workspace/tar.ts'

export interface TestEngine {
  readonly socketPath: string
  readonly image: string
  /** The daemon, where it was started for this test alone. */
  readonly pid: number | null
  stop(): Promise<void>
}

const usualSocket = (process.env.DOCKER_HOST ?? '').replace(/^unix:\/\//, '') || '/var/run/docker.sock'
const image = `landfall-test:node-${process.versions.node}`
const startMs = 30_000
const keeperFile = fileURLToPath(new URL('./engine-keeper.mjs', import.meta.url))
const pause = () => new Promise((resolve) => setTimeout(resolve, 20))

/**
 * The engine of this machine, or one that all files of a run share, or one of its own for a test that holds it up. A string says
 * why there is none, and what to do.
 */
export async function dockerEngine(own = false): Promise<TestEngine | string> {
  if (!own && (await answers(usualSocket))) {
    await provideImage(usualSocket)
    return lent(usualSocket)
  }
  if (!existsSync('/usr/sbin/dockerd') || !existsSync('/bin/busybox'))
    return 'no Docker engine: apt-get install -y docker.io busybox-static'
  if (process.getuid?.() !== 0) return 'no Docker engine answers, and only root can start one'
  return own ? engineOfItsOwn() : engineOfRun()
}

/** An engine that goes on when this file is done. */
const lent = (socketPath: string): TestEngine => ({ socketPath, image, pid: null, stop: async () => {} })

/** The first file that asks starts it, and others wait until that has come to something. It ends when the run does. */
async function engineOfRun(): Promise<TestEngine | string> {
  // All files of a run have been started by one process, which no other run has.
  const run = process.ppid
  const folder = join(tmpdir(), `landfall-docker-${run}-${hostProcesses().startedAt(run)}`)
  const told = join(folder, 'started.json')
  if (mkdirSync(folder, { recursive: true }) !== undefined) {
    const problem = await started(folder, run)
    writeFileSync(`${told}.new`, JSON.stringify({ problem }))
    renameSync(`${told}.new`, told)
  }
  for (const until = Date.now() + 2 * startMs; !existsSync(told); await pause())
    if (Date.now() > until) return 'another test file was to start a Docker engine and did not'
  const { problem } = JSON.parse(readFileSync(told, 'utf8')) as { problem: string | null }
  return problem ?? lent(socketIn(folder))
}

async function engineOfItsOwn(): Promise<TestEngine | string> {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-docker-'))
  const problem = await started(folder, process.pid)
  if (problem !== null) return problem
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  const stop = async () => {
    process.kill(pid, 'SIGTERM')
    while (!existsSync(endedIn(folder))) await pause()
    rmSync(folder, { recursive: true, force: true })
  }
  return { socketPath: socketIn(folder), image, pid, stop }
}

const socketIn = (folder: string): string => join(folder, 'docker.sock')
const endedIn = (folder: string): string => join(folder, 'ended')

/** An engine apart from that of the machine, without a network. */
function wordsOf(folder: string): readonly string[] {
  const [root, run, pid] = [join(folder, 'root'), join(folder, 'run'), join(folder, 'pid')]
  const places = ['--data-root', root, '--exec-root', run, '--pidfile', pid]
  return ['-H', `unix://${socketIn(folder)}`, ...places, '--bridge=none', '--iptables=false', '--ip6tables=false']
}

/** Starts one that ends with a process, and waits until it answers and has its image. A string says what is wrong. */
async function started(folder: string, until: number): Promise<string | null> {
  // Whoever may use the socket must be able to reach it, as with an engine of the machine.
  chmodSync(folder, 0o711)
  const words = [keeperFile, String(until), folder, endedIn(folder), ...wordsOf(folder)]
  spawn(process.execPath, words, { detached: true, stdio: 'ignore' }).unref()
  const socketPath = socketIn(folder)
  for (const last = Date.now() + startMs; !(await answers(socketPath)); await pause())
    if (Date.now() > last || existsSync(endedIn(folder)))
      return 'dockerd was started and does not answer; it needs rights that this machine may not give'
  await provideImage(socketPath)
  return null
}

async function answers(socketPath: string): Promise<boolean> {
  if (!existsSync(socketPath)) return false
  return new Docker({ socketPath }).ping().then(
    () => true,
    () => false,
  )
}

/** A small image without a registry: this machine's node with what it is linked to, and BusyBox. */
async function provideImage(socketPath: string): Promise<void> {
  const engine = new Docker({ socketPath })
  const known = await engine
    .getImage(image)
    .inspect()
    .catch(() => null)
  if (known !== null) return
  const [repo = '', tag = ''] = image.split(':')
  const stream = await engine.importImage(Readable.from(imageParts()), { repo, tag })
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(stream, (error) => (error ? reject(error) : resolve()))
  })
}

function* imageParts(): Generator<Buffer> {
  const seconds = 0
  const file = (name: string, from: string) => entry({ name, mode: 0o755, type: '0', seconds }, readFileSync(from))
  for (const name of ['bin/', 'lib/', 'lib64/', 'usr/', 'usr/bin/', 'proc/', 'dev/', 'sys/', 'etc/'])
    yield* entry({ name, mode: 0o755, type: '5', seconds })
  for (const name of ['ws/', 'tmp/']) yield* entry({ name, mode: 0o1777, type: '5', seconds })
  yield* file('bin/busybox', '/bin/busybox')
  const names = execFileSync('/bin/busybox', ['--list'], { encoding: 'utf8' }).trim().split('\n')
  for (const name of names)
    if (name !== 'busybox') yield* entry({ name: `bin/${name}`, mode: 0o777, type: '2', seconds, link: '/bin/busybox' })
  const node = realpathSync(process.execPath)
  yield* file('usr/bin/node', node)
  for (const line of execFileSync('ldd', [node], { encoding: 'utf8' }).split('\n')) {
    const path = /(\/\S+)\s\(0x/.exec(line)?.[1]
    if (path !== undefined) yield* file(path.slice(1), realpathSync(path))
  }
  yield Buffer.alloc(1_024)
}
