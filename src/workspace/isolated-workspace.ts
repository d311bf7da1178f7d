import { LandfallError } from '../facts/errors.ts'
import type { Limits } from '../facts/limits.ts'
import { attest } from './attestation.ts'
import { type LeftOut, leftOutPath, nothingLeftOut, SourceOutline } from './left-out.ts'
import { patchOf } from './patch.ts'
import { boundedOutput } from './read-window.ts'
import type { Sandbox, SandboxBounds } from './sandbox.ts'
import { binaryFile } from './text-window.ts'
import { checkedTree, isFolder, isSameFile, type Tree, textFile, treeDigest } from './tree.ts'
import { changedPaths, diffOf, listTree, notThere, type ReadableTree, readTree } from './tree-reading.ts'
import type { DiffResult, ExecRequest, ExecResult, Workspace, WriteResult } from './workspace.ts'
import { aboutPath, pathParts } from './workspace-path.ts'

type WorkspaceBounds = SandboxBounds & Pick<Limits, 'writeBytes' | 'argvItems' | 'argvBytes'>

export interface IsolatedParts {
  /** What the workspace began with. */
  readonly initial: Tree
  /** What it is now; absent: as it began. */
  readonly current?: Tree
  /** What of the source was not copied. */
  readonly leftOut?: LeftOut
  readonly sandbox: Sandbox
  readonly bounds: WorkspaceBounds
}

/** An attested workspace, and what its owner may ask of it beside the tools. */
export interface IsolatedWorkspace {
  readonly workspace: Workspace
  /** Of what it began with; the same source gives the same digest. */
  readonly initialDigest: string
  readonly initial: Tree
  /** What it is now. A tree is never changed in place. */
  current(): Tree
  patch(): string
  /** Ends what runs; nothing can be done with the workspace after it. */
  dispose(): Promise<void>
}

/**
 * Owns: a tree of text files in memory, which only these methods change.
 * 1. The tree is no folder of the host: nothing that a program leaves behind can lead a path out of it.
 * 2. What changes it goes one after the other; reads see the tree before or after a change, never between.
 * 3. A change that fails, or whose call was told to stop, is no change.
 */
class IsolatedTree {
  readonly parts: IsolatedParts
  readonly outline: SourceOutline
  current: Tree
  readonly #life = new AbortController()
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: IsolatedParts) {
    this.parts = parts
    this.outline = new SourceOutline(parts.leftOut ?? nothingLeftOut, parts.initial)
    this.current = parts.current ?? parts.initial
  }

  /** To be read, as it is now. */
  reading(): ReadableTree {
    if (this.#life.signal.aborted) throw disposed()
    return { tree: this.current, outline: this.outline, bounds: this.parts.bounds }
  }

  async write(path: string, contents: string, asked?: AbortSignal): Promise<WriteResult> {
    const { bounds } = this.parts
    const name = pathParts(path, bounds.pathChars).join('/')
    const bytes = checkContents(contents, bounds.writeBytes)
    return this.#inTurn(async () => {
      asked?.throwIfAborted()
      const before = this.current.get(name)
      if (before === undefined) this.#checkPlace(name)
      const files = new Map(this.current)
      files.set(name, textFile(contents, before?.executable ?? false))
      const result = boundedOutput({ path: name, bytes, created: before === undefined }, bounds.outputBytes)
      this.current = checkedTree(files, bounds)
      return result
    }, asked)
  }

  async exec(request: ExecRequest, asked: AbortSignal): Promise<ExecResult> {
    const { sandbox, bounds } = this.parts
    const { argv, timeoutMs = bounds.processTimeoutMs } = request
    checkProgram(argv, bounds)
    checkTime(timeoutMs, bounds.processTimeoutMs)
    const cwd = pathParts(request.cwd ?? '.', bounds.pathChars).join('/')
    const signal = AbortSignal.any([asked, this.#life.signal])
    return this.#inTurn(async () => {
      signal.throwIfAborted()
      const tree = this.current
      if (!isFolder(tree, cwd)) throw notThere()
      const end = await sandbox.run({ tree, argv, cwd, timeoutMs, signal })
      signal.throwIfAborted()
      const left = sharing(tree, end.tree)
      const result = {
        exitCode: end.exitCode,
        stdout: end.stdout,
        stderr: end.stderr,
        changed: changedPaths(tree, left),
      }
      boundedOutput(result, bounds.outputBytes)
      this.#checkPlaces(tree, left)
      this.current = left
      return result
    }, signal)
  }

  diff(): DiffResult {
    return diffOf(this.parts.initial, this.current, this.parts.bounds.outputBytes)
  }

  /** A new file must not stand where a folder is, below a file, or where the source has what is not here. */
  #checkPlace(name: string): void {
    if (name === '' || isFolder(this.current, name))
      throw new LandfallError('INVALID_ARGUMENTS', 'This is a folder. Name a file in it.')
    for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1))
      if (this.current.has(name.slice(0, at)))
        throw new LandfallError('INVALID_ARGUMENTS', 'A part of the path is a file. Name a path below folders.')
    if (!this.outline.isFree(name)) throw leftOutPath()
  }

  /** What a program made must be free for its path too: else no patch could ever tell of the tree. */
  #checkPlaces(before: Tree, after: Tree): void {
    for (const path of after.keys())
      if (!before.has(path) && !this.outline.isFree(path)) throw aboutPath(leftOutPath(), path)
  }

  async dispose(): Promise<void> {
    this.#life.abort(disposed())
    await this.#last.catch(() => {})
  }

  /** Whoever waits for its turn and is told to stop does not wait on. */
  #inTurn<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const turn = this.#last.then(async () => {
      if (this.#life.signal.aborted) throw disposed()
      return work()
    })
    const before = this.#last
    this.#last = turn.catch(() => {})
    if (signal === undefined) return turn
    return Promise.race([before.then(() => turn), whenAborted(signal, before)])
  }
}

/** Rejects when the signal is aborted while the work before is still under way; never settles otherwise. */
function whenAborted(signal: AbortSignal, before: Promise<unknown>): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    void before.then(() => signal.removeEventListener('abort', stop))
  })
}

export function isolatedWorkspace(parts: IsolatedParts): IsolatedWorkspace {
  const tree = new IsolatedTree(parts)
  const reading = async () => tree.reading()
  const workspace = attest<Workspace>({
    isolation: parts.sandbox.isolation,
    read: (path, range = {}) => reading().then((of) => readTree(of, path, range)),
    list: (path) => reading().then((of) => listTree(of, path)),
    write: (path, contents, context) => tree.write(path, contents, context?.signal),
    exec: (request, { signal }) => tree.exec(request, signal),
    diff: () => reading().then(() => tree.diff()),
  })
  return {
    workspace,
    initial: parts.initial,
    initialDigest: treeDigest(parts.initial),
    current: () => tree.current,
    patch: () => patchOf(parts.initial, tree.current),
    dispose: () => tree.dispose(),
  }
}

function checkContents(contents: string, bound: number): number {
  const bytes = Buffer.byteLength(contents)
  if (bytes > bound)
    throw new LandfallError('LIMIT_EXCEEDED', `A file is written with at most ${bound} bytes at once. Write less.`, {
      details: { which: 'writeBytes', bound, got: bytes },
    })
  if (contents.includes('\0') || /\p{Surrogate}/u.test(contents)) throw binaryFile()
  return bytes
}

function checkProgram(argv: readonly string[], { argvItems, argvBytes }: WorkspaceBounds): void {
  const first = argv[0] ?? ''
  const bytes = argv.reduce((sum, word) => sum + Buffer.byteLength(word), 0)
  const lawful = argv.length >= 1 && argv.length <= argvItems && bytes <= argvBytes
  if (!lawful || first === '' || first.startsWith('-') || argv.some((word) => /[\0\p{Surrogate}]/u.test(word)))
    throw invalid('argv', `A program is a list of 1 to ${argvItems} words, ${argvBytes} bytes in all.`)
}

function checkTime(timeoutMs: number, longestMs: number): void {
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > longestMs)
    throw invalid('timeoutMs', `The time of a program is a whole number from 1 to ${longestMs} milliseconds.`)
}

function invalid(field: string, message: string): LandfallError {
  return new LandfallError('INVALID_ARGUMENTS', message, { details: { field } })
}

/** The tree with the objects of the one before for what is the same, so that what is new can be told at a glance. */
function sharing(before: Tree, after: Tree): Tree {
  const shared = [...after].map(([path, file]): [string, typeof file] => {
    const known = before.get(path)
    return [path, known !== undefined && isSameFile(known, file) ? known : file]
  })
  return new Map(shared)
}

function disposed(): LandfallError {
  return new LandfallError('WORKSPACE_DISPOSED', 'This workspace is gone. Open the session again.')
}
