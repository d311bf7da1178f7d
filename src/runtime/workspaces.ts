import type { Digest } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import type { ToolDefinition } from '../capabilities/define-tool.ts'
import { nativeTools } from '../capabilities/native-tools.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Limits } from '../facts/limits.ts'
import type { Log } from '../facts/log-port.ts'
import type { Logger } from '../facts/ports.ts'
import { type Scope, scopeKey } from '../facts/scope.ts'
import { bindWorkspace } from '../workspace/attestation.ts'
import { copySource } from '../workspace/copy-source.ts'
import { isolatedWorkspace } from '../workspace/isolated-workspace.ts'
import { countLeftOut, SourceOutline } from '../workspace/left-out.ts'
import { localWorkspace } from '../workspace/local-workspace.ts'
import { checkedOptions, openSandbox, sweepSandboxes, type WorkspaceOptions } from '../workspace/open-workspace.ts'
import type { Sandbox } from '../workspace/sandbox.ts'
import type { Tree } from '../workspace/tree.ts'
import { treeWorkspace } from '../workspace/tree-reading.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { loadTrees, type Putting, putTree, type TreeBook } from './tree-store.ts'

interface Parts {
  readonly options: WorkspaceOptions
  readonly limits: Limits
  readonly log: Log
  readonly logger: Logger
}

interface Opened {
  readonly workspace: Workspace
  /** null: it can only be read, and nothing of it is ever recorded. */
  readonly changing: { readonly book: TreeBook; readonly current: () => Tree } | null
  readonly dispose: () => Promise<void>
}

/**
 * Owns: the workspaces of the sessions that this runtime works on, one a session, and the sandbox that they share.
 * 1. A workspace is opened when a tool first needs it: from the tree that the log named last, else from a copy of the source.
 * 2. It is dropped with the ownership of its session, and with it everything that was not recorded.
 * 3. What a fact names is in the content of its own step, or was in one before it.
 */
export class Workspaces {
  readonly tools: readonly ToolDefinition[]
  readonly #parts: Parts
  readonly #recorded = new Map<string, Digest | null>()
  readonly #opening = new Map<string, Promise<Opened>>()
  readonly #open = new Map<string, Opened>()
  #sandbox: Promise<Sandbox | null> | null = null

  constructor(parts: Parts) {
    this.#parts = { ...parts, options: checkedOptions(parts.options) }
    this.tools = nativeTools((scope) => this.of(scope))
  }

  /** Removes what lost processes have left, in the background: a daemon that does not answer must hold nobody up. */
  async sweep(): Promise<void> {
    const { options, logger } = this.#parts
    if (options.isolation === 'none') return
    try {
      const swept = await sweepSandboxes(options)
      if (swept > 0) logger.info({ swept }, 'sandboxes of lost processes were swept')
    } catch {
      logger.warn({}, 'sandboxes of lost processes could not be swept')
    }
  }

  /** What the log names is told before each call, since only a session's own mailbox knows it. */
  expect(scope: Scope, recorded: Digest | null): void {
    this.#recorded.set(scopeKey(scope), recorded)
  }

  async of(scope: Scope): Promise<Workspace> {
    const key = scopeKey(scope)
    const known = this.#opening.get(key)
    if (known !== undefined) return (await known).workspace
    const opening = this.#begin(scope, this.#recorded.get(key) ?? null)
    this.#opening.set(key, opening)
    try {
      const opened = await opening
      if (this.#opening.get(key) === opening) this.#open.set(key, opened)
      else await opened.dispose()
      return opened.workspace
    } catch (error) {
      if (this.#opening.get(key) === opening) this.#opening.delete(key)
      throw error
    }
  }

  /** The tree after a call of a tool that changes it, as the fact of the call names it. */
  record(scope: Scope, tool: ToolDefinition, put: Putting, recorded: Digest | null): Digest | undefined {
    if (tool.effect === 'read' || !this.tools.includes(tool)) return undefined
    const changing = this.#open.get(scopeKey(scope))?.changing
    return changing == null ? undefined : putTree(put, changing.book, changing.current(), recorded)
  }

  /** Where nothing of a session runs, what the log names can be opened again, and need not stay in memory; what is erased must not. */
  settled(scope: Scope, world: Pick<World, 'tasks' | 'session' | 'tree'>): void {
    if (world.tasks.size > 0) return
    if (world.session?.matches({ lifecycle: 'erased' }) === true) return this.drop(scope)
    const changing = this.#open.get(scopeKey(scope))?.changing
    if (changing == null || world.tree === null) return
    if (changing.book.known.get(world.tree)?.tree === changing.current()) this.drop(scope)
  }

  /** Ends what still runs, when the runtime closes. */
  async close(): Promise<void> {
    const open = [...this.#open.values()]
    this.#opening.clear()
    this.#open.clear()
    await Promise.all(open.map((opened) => opened.dispose()))
  }

  drop(scope: Scope): void {
    const key = scopeKey(scope)
    const opened = this.#open.get(key)
    this.#recorded.delete(key)
    this.#opening.delete(key)
    this.#open.delete(key)
    void opened?.dispose()
  }

  async #begin(scope: Scope, recorded: Digest | null): Promise<Opened> {
    const { options, limits, log } = this.#parts
    this.#sandbox ??= openSandbox(options, limits)
    const sandbox = await this.#sandbox.catch((error: unknown) => {
      // Whoever installs what is missing need not open another runtime.
      this.#sandbox = null
      throw error
    })
    if (recorded === null && sandbox === null)
      return { workspace: localWorkspace(options.from, limits), changing: null, dispose: async () => {} }
    const { book, current } = recorded === null ? await this.#copied() : await loadTrees(log, scope, recorded)
    if (sandbox === null) {
      const outline = new SourceOutline(book.leftOut, book.initial)
      const workspace = treeWorkspace(book.initial, { tree: current, outline, bounds: limits })
      return { workspace, changing: null, dispose: async () => {} }
    }
    const isolated = isolatedWorkspace({
      initial: book.initial,
      current,
      leftOut: book.leftOut,
      sandbox,
      bounds: limits,
    })
    const life = new AbortController()
    return {
      workspace: bindWorkspace(isolated.workspace, life.signal),
      changing: { book, current: isolated.current },
      dispose: async () => {
        life.abort(new LandfallError('WORKSPACE_DISPOSED', 'The session is not worked on here any more.'))
        await isolated.dispose()
      },
    }
  }

  async #copied(): Promise<{ readonly book: TreeBook; readonly current: Tree }> {
    const { options, limits, logger } = this.#parts
    const { tree, leftOut } = await copySource(options.from, limits, options.exclude)
    logger.info({ files: tree.size, leftOut: countLeftOut(leftOut) }, 'a workspace was copied')
    return { book: { initial: tree, leftOut, known: new Map(), initialDigest: null }, current: tree }
  }
}
