import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import { systemClock, systemScheduler } from '../facts/system-ports.ts'

export interface CallProcessOptions {
  readonly cwd?: string
  /** Absent: the environment of the host process. */
  readonly env?: Readonly<Record<string, string>>
  /** Most bytes of each output; beyond it the process is ended. */
  readonly outputBytes?: number
}

export interface CallProcessResult {
  /** null: a signal ended it. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
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

/**
 * Runs a program for a call, in a process group of its own that dies with its descendants: when the call is told to stop, when
 * the program ends and leaves some behind, and when the host process is gone. Rejects with the signal's reason once everything
 * has really stopped, which acknowledges the abort.
 */
export async function callProcess(
  context: { readonly signal: AbortSignal },
  argv: readonly string[],
  options: CallProcessOptions = {},
): Promise<CallProcessResult> {
  const { signal } = context
  signal.throwIfAborted()
  const child = start(argv, options)
  const outputs = [collect(child.stdout), collect(child.stderr)] as const
  const bound = options.outputBytes ?? limits.outputBytes
  let flooded = false
  for (const output of outputs)
    output.onBytes = (bytes) => {
      if (bytes <= bound) return
      flooded = true
      signalGroup(child, 'SIGKILL')
    }
  const stop = () => stopGroup(child)
  signal.addEventListener('abort', stop, { once: true })
  try {
    const exitCode = await ended(child)
    signalGroup(child, 'SIGKILL')
    await gone(child)
    signal.throwIfAborted()
    if (flooded) throw outputLimit(bound)
    return { exitCode, stdout: outputs[0].text(), stderr: outputs[1].text() }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function start(argv: readonly string[], options: CallProcessOptions): ChildProcess {
  if (argv.length < 1 || argv.length > limits.argvItems || Buffer.byteLength(argv.join('')) > limits.argvBytes)
    throw new LandfallError('INVALID_ARGUMENTS', 'A program is a list of 1 to 128 words, 64 KiB in all.', {
      details: { field: 'argv' },
    })
  return spawn('/bin/sh', ['-c', guarded, ...argv], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: { ...options.env } }),
  })
}

interface Output {
  onBytes: (bytes: number) => void
  text(): string
}

function collect(stream: Readable | null): Output {
  const chunks: Buffer[] = []
  let bytes = 0
  const output: Output = { onBytes: () => {}, text: () => Buffer.concat(chunks).toString('utf8') }
  stream?.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    output.onBytes(bytes)
  })
  return output
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code))
  })
}

function stopGroup(child: ChildProcess): void {
  signalGroup(child, 'SIGTERM')
  const cancel = systemScheduler().at(systemClock.now() + politeMs, () => signalGroup(child, 'SIGKILL'))
  child.once('exit', cancel)
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
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
async function gone(child: ChildProcess): Promise<void> {
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

function outputLimit(bound: number): LandfallError {
  return new LandfallError('OUTPUT_LIMIT', 'The program wrote more than the bound; it was ended. Ask for less.', {
    details: { which: 'outputBytes', bound },
  })
}
