import type { ContainerCreateOptions } from 'dockerode'
import { quoted } from './bubblewrap-words.ts'
import { type SandboxBounds, type SandboxRun, sandboxEnvironment } from './sandbox.ts'

/** A container outlives the time of its program by no more than this, whatever becomes of who started it. */
const outlivesMs = 15_000
const inodes = 20_000

/**
 * The first process of a container: fills the tree, runs the program, ends whatever is left of it, and tells of the tree behind a
 * mark that it was told. A watchdog ends the program where nobody else does any more.
 */
export function dockerScript(bounds: SandboxBounds, run: Pick<SandboxRun, 'cwd' | 'timeoutMs'>): string {
  const lifeSeconds = Math.ceil((Math.min(run.timeoutMs, bounds.processTimeoutMs) + outlivesMs) / 1_000)
  return [
    'read -r mark || exit 124',
    'tar -x -f - -C /ws || exit 125',
    `(sleep ${lifeSeconds}; kill -9 -1) </dev/null >/dev/null 2>&1 &`,
    `(cd ${quoted(`/ws/${run.cwd}`)} && exec "$@") </dev/null`,
    'code=$?',
    '{ kill -9 -1; } 2>/dev/null',
    `printf '%sexit %s\\n' "$mark" "$code"`,
    'exec tar -c -f - -C /ws . 2>/dev/null',
  ].join('\n')
}

interface Wanted {
  readonly name: string
  readonly image: string
  readonly bounds: SandboxBounds
  readonly command: readonly string[]
}

/** No network, nothing to write to but memory of bounded size, no rights, and every bound that the engine has. */
export function containerOf({ name, image, bounds, command }: Wanted): ContainerCreateOptions {
  const memory = bounds.sandboxMemoryBytes
  const place = `rw,nosuid,nodev,exec,mode=1777,size=${bounds.sandboxDiskBytes},nr_inodes=${inodes}`
  const same = (Name: string, bound: number) => ({ Name, Soft: bound, Hard: bound })
  return {
    name,
    Image: image,
    Entrypoint: ['/bin/sh', '-c'],
    Cmd: [...command],
    Env: Object.entries(sandboxEnvironment).map(([key, value]) => `${key}=${value}`),
    User: '1000:1000',
    WorkingDir: '/ws',
    Hostname: 'sandbox',
    NetworkDisabled: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    Labels: { 'landfall.sandbox': name },
    HostConfig: {
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      AutoRemove: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      IpcMode: 'private',
      ShmSize: bounds.sandboxDiskBytes,
      Memory: memory,
      MemorySwap: memory,
      PidsLimit: bounds.sandboxProcesses,
      LogConfig: { Type: 'none', Config: {} },
      Tmpfs: { '/ws': place, '/tmp': place },
      Ulimits: [
        same('core', 0),
        same('nofile', 1_024),
        same('fsize', bounds.sandboxDiskBytes),
        same('cpu', Math.ceil(bounds.sandboxCpuMs / 1_000)),
      ],
    },
  }
}
