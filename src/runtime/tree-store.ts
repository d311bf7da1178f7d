import { z } from 'zod'
import type { Digest } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Log } from '../facts/log-port.ts'
import type { Scope } from '../facts/scope.ts'
import type { LeftOut, LeftOutFolder } from '../workspace/left-out.ts'
import { patchOf } from '../workspace/patch.ts'
import { isSameFile, type Tree, type TreeFile, textFile } from '../workspace/tree.ts'

/*
 * How trees of a workspace stand in the content store. A file is a piece of shared content, and so is a manifest, which names files
 * by digest: all of them, or what differs from another manifest. So a call costs what it changed, and not what there is.
 */
/** As pairs: a record of names would lose the one that is called `__proto__`. */
const pairs = z
  .custom<object>((given) => typeof given === 'object' && given !== null && !Array.isArray(given))
  .transform((given): [string, unknown][] => Object.entries(given))

/** How many, and their names. The first version told the number only; then any path is taken to be free. */
const leftOutFolder = z
  .union([z.number().int(), z.tuple([z.number().int(), z.array(z.string()).nullable()])])
  .transform((told): LeftOutFolder => {
    if (typeof told === 'number') return { count: told, names: [] }
    return { count: told[0], names: told[1] }
  })

const manifest = z.strictObject({
  v: z.union([z.literal(1), z.literal(2)]),
  /** The manifest of what the workspace began with; null: this is that one. */
  initial: z.string().nullable(),
  /** The manifest that this one differs from, and how many there are below it; null: all files are here. */
  base: z.string().nullable(),
  depth: z.number().int().min(0),
  files: pairs.pipe(z.array(z.tuple([z.string(), z.tuple([z.string(), z.boolean()])]))),
  removed: z.array(z.string()),
  /** By folder, what of the source was not copied. */
  leftOut: pairs.pipe(z.array(z.tuple([z.string(), leftOutFolder]))),
})

type Manifest = z.infer<typeof manifest>

/** So many manifests at most are read to know one tree. */
const longestChain = 32
const sharedStep = 0
const piecesAtOnce = 100

export interface KnownTree {
  readonly tree: Tree
  readonly depth: number
}

/** What a live session knows of its workspace's trees, by digest of their manifests. */
export interface TreeBook {
  readonly initial: Tree
  readonly leftOut: LeftOut
  readonly known: Map<Digest, KnownTree>
  initialDigest: Digest | null
}

/** Where content is put: a step. */
export interface Putting {
  digest(value: string): Digest
  share(digest: Digest, body: string): void
}

/** Puts what is new of a tree, and gives the digest that a fact names it by. `durable` is what the log named last. */
export function putTree(put: Putting, book: TreeBook, tree: Tree, durable: Digest | null): Digest {
  const before = durable === null ? undefined : book.known.get(durable)
  if (durable !== null && before !== undefined && isSameTree(before.tree, tree)) return durable
  const initial = putInitial(put, book, durable)
  if (isSameTree(book.initial, tree)) return initial
  const base = before ?? { tree: book.initial, depth: 0 }
  const baseDigest = before === undefined ? initial : durable
  const isFull = base.depth + 1 >= longestChain || baseDigest === null
  const from: Tree = isFull ? new Map() : base.tree
  const changed = [...tree].filter(([path, file]) => !isSameFile(from.get(path), file))
  const removed = [...from.keys()].filter((path) => !tree.has(path))
  const depth = isFull ? 0 : base.depth + 1
  const digest = putManifest(put, {
    ...{ v: 2, initial, base: isFull ? null : baseDigest, depth, removed, leftOut: [] },
    files: putFiles(put, changed),
  })
  book.known.set(digest, { tree, depth })
  return digest
}

/** It is in the store when anything was recorded before; then only its digest is needed. */
function putInitial(put: Putting, book: TreeBook, durable: Digest | null): Digest {
  if (book.initialDigest !== null && durable !== null) return book.initialDigest
  const files = putFiles(put, [...book.initial])
  const leftOut = [...book.leftOut]
  const digest = putManifest(put, { v: 2, initial: null, base: null, depth: 0, files, removed: [], leftOut })
  book.initialDigest = digest
  book.known.set(digest, { tree: book.initial, depth: 0 })
  return digest
}

function putFiles(put: Putting, files: readonly (readonly [string, TreeFile])[]): Manifest['files'] {
  return files.map(([path, file]) => {
    const digest = put.digest(file.text)
    put.share(digest, file.text)
    return [path, [digest, file.executable]]
  })
}

function putManifest(put: Putting, of: Manifest): Digest {
  const { files, leftOut } = of
  const told = leftOut.map(([folder, { count, names }]) => [folder, [count, names]])
  const body = JSON.stringify({ ...of, files: Object.fromEntries(files), leftOut: Object.fromEntries(told) })
  const digest = put.digest(body)
  put.share(digest, body)
  return digest
}

function isSameTree(one: Tree, other: Tree): boolean {
  if (one === other) return true
  if (one.size !== other.size) return false
  for (const [path, file] of one) if (!isSameFile(file, other.get(path))) return false
  return true
}

export interface LoadedTrees {
  readonly book: TreeBook
  readonly current: Tree
}

/** The tree that a fact names, and the one that the workspace began with, from the content of a session. */
export async function loadTrees(log: Log, scope: Scope, digest: Digest): Promise<LoadedTrees> {
  const reader = new TreeStoreReader(log, scope)
  const newest = await reader.manifest(digest)
  const initialDigest = newest.initial ?? digest
  const first = newest.initial === null ? newest : await reader.manifest(initialDigest)
  const entries = await reader.entries(newest)
  const initialEntries = first === newest ? entries : await reader.entries(first)
  const files = await reader.files([...entries.values(), ...initialEntries.values()])
  const initial = treeOf(initialEntries, files)
  const current = first === newest ? initial : treeOf(entries, files)
  const known = new Map([
    [initialDigest, { tree: initial, depth: first.depth }],
    [digest, { tree: current, depth: newest.depth }],
  ])
  return { book: { initial, leftOut: new Map(first.leftOut), known, initialDigest }, current }
}

/** The patch between what a workspace began with and the tree that the log names; empty when it names none. */
export async function patchAt(log: Log, scope: Scope, world: Pick<World, 'session' | 'tree'>): Promise<string> {
  const { session, tree } = world
  if (session?.matches({ lifecycle: 'erased' }) === true)
    throw new LandfallError('SESSION_ERASED', 'The session was erased, and what it changed with it.')
  if (tree === null) return ''
  const { book, current } = await loadTrees(log, scope, tree)
  return patchOf(book.initial, current)
}

/** What a manifest rests on: others, and files. Null when it is none. For verifiers, which look at each piece by itself. */
export function restsOn(
  body: string,
): { readonly manifests: readonly Digest[]; readonly files: readonly Digest[] } | null {
  try {
    const { initial, base, files } = manifest.parse(JSON.parse(body))
    return {
      manifests: [initial, base].filter((digest) => digest !== null),
      files: files.map(([, [digest]]) => digest),
    }
  } catch {
    return null
  }
}

type Entry = Manifest['files'][number][1]

class TreeStoreReader {
  readonly #log: Log
  readonly #scope: Scope

  constructor(log: Log, scope: Scope) {
    this.#log = log
    this.#scope = scope
  }

  async manifest(digest: Digest): Promise<Manifest> {
    const body = (await this.bodies([digest])).get(digest) ?? ''
    try {
      return manifest.parse(JSON.parse(body))
    } catch {
      throw damaged(this.#scope)
    }
  }

  async entries(of: Manifest): Promise<ReadonlyMap<string, Entry>> {
    const chain = [of]
    for (let at = of; at.base !== null; ) {
      if (chain.length > longestChain) throw damaged(this.#scope)
      at = await this.manifest(at.base)
      chain.push(at)
    }
    const entries = new Map<string, Entry>()
    for (const { files, removed } of chain.reverse()) {
      for (const path of removed) entries.delete(path)
      for (const [path, entry] of files) entries.set(path, entry)
    }
    return entries
  }

  /** Each file once, also where two trees have it: then it is the same object. */
  async files(entries: readonly Entry[]): Promise<ReadonlyMap<string, TreeFile>> {
    const bodies = await this.bodies([...new Set(entries.map(([digest]) => digest))])
    const files = new Map<string, TreeFile>()
    for (const [digest, executable] of entries) {
      const key = `${digest} ${executable}`
      if (!files.has(key)) files.set(key, textFile(bodies.get(digest) ?? '', executable))
    }
    return files
  }

  async bodies(digests: readonly Digest[]): Promise<ReadonlyMap<Digest, string>> {
    const found = new Map<Digest, string>()
    for (let from = 0; from < digests.length; from += piecesAtOnce) {
      const page = digests.slice(from, from + piecesAtOnce)
      const bodies = await this.#log.content(
        this.#scope,
        page.map((digest) => ({ digest, step: sharedStep })),
      )
      for (const [at, digest] of page.entries()) {
        const body = bodies[at]
        if (body == null) throw damaged(this.#scope)
        found.set(digest, body)
      }
    }
    return found
  }
}

function treeOf(entries: ReadonlyMap<string, Entry>, files: ReadonlyMap<string, TreeFile>): Tree {
  const tree = [...entries].map(([path, [digest, executable]]): [string, TreeFile] => {
    return [path, files.get(`${digest} ${executable}`) ?? textFile('', executable)]
  })
  return new Map(tree.sort(([one], [other]) => (one < other ? -1 : 1)))
}

function damaged(scope: Scope): LandfallError {
  return new LandfallError('LOG_CORRUPT', 'The recorded tree of a workspace cannot be read. Run landfall verify.', {
    details: { session: scope.session, what: 'tree of the workspace' },
  })
}
