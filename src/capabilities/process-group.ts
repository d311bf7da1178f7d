import { type ChildProcess, spawn } from 'node:child_process'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import { systemClock, systemScheduler } from '../facts/system-ports.ts'

export interface GroupOptions {
  readonly cwd?: string
  /** Absent: the environment of the host process. */
  readonly env?: Readonly<Record<string, string>>
  readonly stdin: 'ignore' | 'pipe'
}

/** How long a process that was told to stop may take before it is ended. */
const politeMs = 250
const pollMs = 5
const collectedMs = 100

/**
 * The shell's only work is a guard in the group: it waits for the end of a pipe that the host holds, which comes when the host
 * lets go of it or is gone, and ends the group. The program takes the shell's place; its words are never read by a shell.
 */
const guarded = '{ read -r _ <&3; kill -9 0; } >/dev/null 2>&1 & exec 3<&-; exec "$0" "$@"'

/** Starts a program as the first of a process group of its own, which dies with the host process. */
export function startGroup(argv: readonly string[], options: GroupOptions): ChildProcess {
  if (argv.length < 1 || argv.length > limits.argvItems || Buffer.byteLength(argv.join('')) > limits.argvBytes)
    throw new LandfallError('INVALID_ARGUMENTS', 'A program is a list of 1 to 128 words, 64 KiB in all.', {
      details: { field: 'argv' },
    })
  return spawn('/bin/sh', ['-c', guarded, ...argv], {
    detached: true,
    stdio: [options.stdin, 'pipe', 'pipe', 'pipe'],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: { ...options.env } }),
  })
}

/** Asks the group to stop, and ends it when it takes too long. */
export function stopGroup(child: ChildProcess): void {
  signalGroup(child, 'SIGTERM')
  const cancel = systemScheduler().at(systemClock.now() + politeMs, () => signalGroup(child, 'SIGKILL'))
  child.once('exit', cancel)
}

export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // Nobody of the group is left.
  }
}

/**
 * A group is gone when no signal can be sent to it any more. Killed ones run no more even while nobody has collected them yet,
 * which some systems take their time with; so this does not wait for that for long.
 */
export async function groupGone(child: ChildProcess): Promise<void> {
  const until = systemClock.now() + collectedMs
  while (child.pid !== undefined && isAlive(-child.pid) && systemClock.now() < until) {
    await new Promise<void>((resolve) => void systemScheduler().at(systemClock.now() + pollMs, resolve))
  }
}

function isAlive(group: number): boolean {
  try {
    process.kill(group, 0)
    return true
  } catch {
    return false
  }
}
