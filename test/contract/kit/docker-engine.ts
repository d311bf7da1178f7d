import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import Docker from 'dockerode'
import { entry } from '../../../src/workspace/tar.ts'

export interface TestEngine {
  readonly socketPath: string
  readonly image: string
  /** The daemon, where this test has started it. */
  readonly pid: number | null
  stop(): Promise<void>
}

const usualSocket = (process.env.DOCKER_HOST ?? '').replace(/^unix:\/\//, '') || '/var/run/docker.sock'
const image = `landfall-test:node-${process.versions.node}`
const startMs = 30_000

/** The engine of this machine, or one of our own while the test runs. A string says why there is none, and what to do. */
export async function dockerEngine(own = false): Promise<TestEngine | string> {
  if (!own && (await answers(usualSocket))) {
    await provideImage(usualSocket)
    return { socketPath: usualSocket, image, pid: null, stop: async () => {} }
  }
  if (!existsSync('/usr/sbin/dockerd') || !existsSync('/bin/busybox'))
    return 'no Docker engine: apt-get install -y docker.io busybox-static'
  if (process.getuid?.() !== 0) return 'no Docker engine answers, and only root can start one'
  return startEngine()
}

async function startEngine(): Promise<TestEngine | string> {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-docker-'))
  // Whoever may use the socket must be able to reach it, as with an engine of the machine.
  chmodSync(folder, 0o711)
  const socketPath = join(folder, 'docker.sock')
  const places = [
    '--data-root',
    join(folder, 'root'),
    '--exec-root',
    join(folder, 'run'),
    '--pidfile',
    join(folder, 'pid'),
  ]
  const network = ['--bridge=none', '--iptables=false', '--ip6tables=false']
  const daemon = spawn('/usr/sbin/dockerd', ['-H', `unix://${socketPath}`, ...places, ...network], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => daemon.once('exit', () => resolve()))
  const stop = async () => {
    daemon.kill('SIGCONT')
    daemon.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  const until = Date.now() + startMs
  while (!(await answers(socketPath))) {
    if (Date.now() > until || daemon.exitCode !== null) {
      await stop()
      return 'dockerd was started and does not answer; it needs rights that this machine may not give'
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await provideImage(socketPath)
  return { socketPath, image, pid: daemon.pid ?? null, stop }
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
