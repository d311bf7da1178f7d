import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { keyedDigest } from '../../src/facts/digest.ts'
import type { StoredFact } from '../../src/facts/envelope.ts'
import type { ContentRef, Log } from '../../src/facts/log-port.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { loadTrees, patchAt, putTree, type TreeBook } from '../../src/runtime/tree-store.ts'
import { ContentCheck } from '../../src/testing/verify-store/content-check.ts'
import { Findings } from '../../src/testing/verify-store/findings.ts'
import { type Tree, type TreeFile, textFile } from '../../src/workspace/tree.ts'
import { sampleFact } from '../facts/sample-facts.ts'

const scope = { tenant: 't', user: 'u', session: 's' }
const key = '00'.repeat(32)

/** Content as a step would carry it, which is stored or lost as a whole. */
class Shelf {
  readonly stored = new Map<string, string>()
  putBytes = 0
  readonly log = {
    content: async (_scope: object, refs: readonly ContentRef[]) =>
      refs.map(({ digest }) => this.stored.get(digest) ?? null),
  } as Pick<Log, 'content'> as Log

  record(book: TreeBook, tree: Tree, durable: string | null, keep = true): string {
    const step = new Map<string, string>()
    const put = {
      digest: (value: string) => keyedDigest(key, value),
      share: (digest: string, body: string) => void step.set(digest, body),
    }
    const digest = putTree(put, book, tree, durable)
    if (keep)
      for (const [name, body] of step) {
        this.stored.set(name, body)
        this.putBytes += body.length
      }
    return digest
  }
}

const at = (tree: string | null) => ({ session: null, tree })
const treeOf = (files: Record<string, string>): Tree =>
  new Map(Object.entries(files).map(([path, text]): [string, TreeFile] => [path, textFile(text, false)]))
const bookOf = (initial: Tree): TreeBook => ({
  initial,
  leftOut: new Map([
    ['', { count: 2, names: ['logo.png', '__proto__'] }],
    ['full', { count: 5_000, names: null }],
  ]),
  known: new Map(),
  initialDigest: null,
})

describe('recorded trees', () => {
  it('are read back, through any number of changes, and a change costs what it changed', async () => {
    const large = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`file-${at}`, `text ${at}\n`.repeat(20)]))
    const initial = treeOf(large)
    const book = bookOf(initial)
    const shelf = new Shelf()
    let durable: string | null = null
    let tree: Tree = initial
    const costs: number[] = []
    for (let round = 0; round < 70; round += 1) {
      tree = new Map([...tree, [`new-${round % 7}`, textFile(`round ${round}`, round % 2 === 0)]])
      if (round % 10 === 0) tree = new Map([...tree].filter(([path]) => path !== `file-${round}`))
      const before = shelf.putBytes
      durable = shelf.record(book, tree, durable)
      costs.push(shelf.putBytes - before)
      const loaded = await loadTrees(shelf.log, scope, durable)
      expect([...loaded.current].sort()).toEqual([...tree].sort())
      expect([...loaded.book.initial].sort()).toEqual([...initial].sort())
      expect(loaded.book.leftOut).toEqual(book.leftOut)
    }
    expect(costs.slice(1).sort((a, b) => a - b)[35]).toBeLessThan(1_000)
    expect(await patchAt(shelf.log, scope, at(durable))).toContain('+round 69')
    expect(await patchAt(shelf.log, scope, at(null))).toBe('')
  })

  it('that could not be stored are put again as a whole, and the same tree has the same name', async () => {
    const book = bookOf(treeOf({ a: 'x' }))
    const shelf = new Shelf()
    const changed = treeOf({ a: 'x', b: 'y' })
    const lost = shelf.record(book, changed, null, false)
    expect(shelf.record(book, changed, null)).toBe(lost)
    expect([...(await loadTrees(shelf.log, scope, lost)).current.keys()]).toEqual(['a', 'b'])
    expect(shelf.record(book, treeOf({ a: 'x', b: 'y' }), lost)).toBe(lost)
    const back = shelf.record(book, treeOf({ a: 'x' }), lost)
    expect(await patchAt(shelf.log, scope, at(back))).toBe('')
  })

  it('have each file, whatever it is called', async () => {
    const names = ['__proto__', 'constructor', 'dir/__proto__', '1', 'toString']
    const initial = treeOf({ 'a.txt': 'a\n' })
    const leftOut = new Map([['__proto__', { count: 3, names: ['__proto__'] }]])
    const tree: Tree = new Map([...names, 'a.txt'].sort().map((name) => [name, textFile(`${name}\n`, false)]))
    const shelf = new Shelf()
    const loaded = await loadTrees(shelf.log, scope, shelf.record({ ...bookOf(initial), leftOut }, tree, null))
    expect([...loaded.current]).toEqual([...tree])
    expect(loaded.book.leftOut).toEqual(leftOut)
  })

  it('of the first version told how many were left out, and are read', async () => {
    const shelf = new Shelf()
    const { digest } = { digest: (value: string) => keyedDigest(key, value) }
    const body = JSON.stringify({
      ...{ v: 1, initial: null, base: null, depth: 0, removed: [], leftOut: { '': 2 } },
      files: { a: [digest('x'), false] },
    })
    shelf.stored.set(digest('x'), 'x')
    shelf.stored.set(digest(body), body)
    const { book, current } = await loadTrees(shelf.log, scope, digest(body))
    expect([...book.leftOut]).toEqual([['', { count: 2, names: [] }]])
    expect([...current.keys()]).toEqual(['a'])
    const next = shelf.record(book, treeOf({ a: 'y' }), digest(body))
    expect(await patchAt(shelf.log, scope, at(next))).toContain('+y')
  })

  it('go on from what another process has loaded', async () => {
    const shelf = new Shelf()
    const first = shelf.record(bookOf(treeOf({ a: 'x' })), treeOf({ a: 'x', b: 'y' }), null)
    const loaded = await loadTrees(shelf.log, scope, first)
    const second = shelf.record(loaded.book, treeOf({ a: 'z', b: 'y' }), first)
    expect(await patchAt(shelf.log, scope, at(second))).toMatch(/-x[\s\S]*\+z[\s\S]*new file/)
  })

  it('that are damaged are told', async () => {
    const shelf = new Shelf()
    const digest = shelf.record(bookOf(treeOf({ a: 'x' })), treeOf({ a: 'y' }), null)
    const whole = shelf.stored.get(digest) ?? ''
    for (const damage of ['', '{}', whole.slice(1)]) {
      shelf.stored.set(digest, damage)
      await expect(loadTrees(shelf.log, scope, digest)).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
    }
    shelf.stored.set(digest, whole)
    shelf.stored.delete(keyedDigest(key, 'y'))
    await expect(loadTrees(shelf.log, scope, digest)).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
  })
})

describe('a verifier', () => {
  const judged = async (shelf: Shelf, tree: string): Promise<readonly string[]> => {
    const findings = new Findings()
    const check = new ContentCheck({ log: shelf.log, scope, key, findings })
    const digest = keyedDigest(key, 'result')
    shelf.stored.set(digest, 'result')
    const data = { outcome: 'succeeded', digest, bytes: 6, durationMs: 1, tree }
    await check.follow({ ...sampleFact('call.finished', 7, 1), data, cursor: 7, prev: '', hash: '' } as StoredFact)
    await check.flush()
    return findings.list().map(({ invariant, seq, message }) => `${invariant} ${seq} ${message}`)
  }

  it('reads each file of every tree that a fact rests on, however many there are', async () => {
    const initial = treeOf(Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`f${at}`, `text ${at}`])))
    const book = bookOf(initial)
    const shelf = new Shelf()
    const first = shelf.record(book, new Map([...initial, ['new', textFile('first', false)]]), null)
    const last = shelf.record(book, new Map([...initial, ['new', textFile('last', false)]]), first)
    expect(await judged(shelf, last)).toEqual([])
    for (const text of ['text 0', 'text 149', 'first', 'last']) {
      const name = keyedDigest(key, text)
      shelf.stored.set(name, 'another text')
      expect(await judged(shelf, last), text).toEqual([
        'INV-14 7 the content of a file of a tree is not what its digest says',
      ])
      shelf.stored.delete(name)
      expect(await judged(shelf, last), text).toEqual(['INV-14 7 the content of a file of a tree is missing'])
      shelf.stored.set(name, text)
    }
    shelf.stored.delete(first)
    expect(await judged(shelf, last)).toEqual(['INV-14 7 the content of call.finished is missing'])
    const none = keyedDigest(key, 'no manifest')
    shelf.stored.set(none, 'no manifest')
    expect(await judged(shelf, none)).toEqual(['INV-14 7 the tree of a call is no manifest'])
  })
})

describe('a runtime without a sandbox', () => {
  const from = mkdtempSync(join(tmpdir(), 'landfall-none-'))
  writeFileSync(join(from, 'victim.txt'), 'untouched')
  afterAll(() => rmSync(from, { recursive: true, force: true }))
  const call = (name: string, args: Record<string, string | string[]>) => ({ calls: [{ name, arguments: args }] })

  it('offers all five tools, reads, and refuses what would change anything before any effect', async () => {
    const turn = [
      call('fs.read', { path: 'victim.txt' }),
      call('fs.write', { path: 'victim.txt', contents: 'reached' }),
      call('process.exec', { argv: ['rm', 'victim.txt'] }),
      call('git.diff', {}),
      { text: 'Done.' },
    ]
    const model = scriptedModel({ name: 'm', turns: [turn] })
    const runtime = await openRuntime({ log: memoryLog(), model, workspace: { from, isolation: 'none' } })
    const session = runtime.session(scope)
    const outcome = await (await session.start('go')).outcome()
    expect(outcome).toMatchObject({ status: 'completed', calls: { failed: 2, succeededMutating: 0 } })
    const facts = await session.log()
    const codes = facts.flatMap((fact) => (fact.type === 'call.finished' ? [fact.data.code ?? 'done'] : []))
    expect(codes).toEqual(['done', 'WORKSPACE_ISOLATION_REQUIRED', 'WORKSPACE_ISOLATION_REQUIRED', 'done'])
    const results = (await session.messages()).filter(({ role }) => role === 'tool').map(({ content }) => content)
    expect(results[0]).toContain('untouched')
    expect(await session.patch()).toBe('')
    await runtime.close()
  })

  it('refuses options that mean nothing', async () => {
    const open = (workspace: unknown) =>
      openRuntime({ log: memoryLog(), model: scriptedModel({ name: 'm' }), workspace: workspace as { from: string } })
    for (const workspace of [
      {},
      { from: '' },
      { from: join(from, 'gone') },
      { from, isolation: 'magic' },
      { from, mount: true },
      'folder',
      [],
      { from, isolation: null },
      { from, exclude: 'a.txt' },
      { from, exclude: [5] },
      { from, image: 5 },
      { from, socketPath: '' },
      { from, leases: 5 },
    ])
      await expect(open(workspace)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})
