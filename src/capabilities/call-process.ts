import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import { groupGone, signalGroup, startGroup, stopGroup } from './process-group.ts'

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
  const child = startGroup(argv, { ...options, stdin: 'ignore' })
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
    await groupGone(child)
    signal.throwIfAborted()
    if (flooded) throw outputLimit(bound)
    return { exitCode, stdout: outputs[0].text(), stderr: outputs[1].text() }
  } finally {
    signal.removeEventListener('abort', stop)
  }
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

function outputLimit(bound: number): LandfallError {
  return new LandfallError('OUTPUT_LIMIT', 'The program wrote more than the bound; it was ended. Ask for less.', {
    details: { which: 'outputBytes', bound },
  })
}
