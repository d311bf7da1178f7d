import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type BenchCase, productOf, resultOf } from '../case.ts'
import { sized } from '../environment.ts'
import { elapsedMs, interleave } from '../measure.ts'
import type { Product } from '../product.ts'
import { type Row, sampledRow } from '../result.ts'
import { fillSessions, openRuntime, owner } from '../workload.ts'

function openHeads(directory: string): Database.Database {
  const database = new Database(join(directory, 'floor.db'))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.exec(
    'create table if not exists heads (tenant text, user text, session text, state text, seq integer, updated_at text)',
  )
  return database
}

function fillHeads(directory: string, count: number): void {
  const database = openHeads(directory)
  const insert = database.prepare('insert into heads values (?, ?, ?, ?, ?, ?)')
  database.transaction(() => {
    for (let index = 0; index < count; index += 1) {
      insert.run('bench', 'bench', `session-${index}`, 'open', 17, '2026-01-01T00:00:00.000Z')
    }
  })()
  database.close()
}

/** Opening and closing again, and between them (not timed as opening) the list. */
function floorTimes(directory: string, count: number): { start: () => Promise<number>; list: () => Promise<number> } {
  return {
    start: () => elapsedMs(() => openHeads(directory).close()),
    list: async () => {
      const database = openHeads(directory)
      let found = 0
      const ms = await elapsedMs(() => {
        found = database.prepare('select * from heads where tenant = ? and user = ?').all('bench', 'bench').length
      })
      database.close()
      if (found !== count) throw new Error(`the floor listed ${found} of ${count}`)
      return ms
    },
  }
}

async function productStart(product: Product, directory: string): Promise<number> {
  const begun = performance.now()
  const runtime = await openRuntime(product, directory)
  const ms = performance.now() - begun
  await runtime.close()
  return ms
}

async function productList(product: Product, directory: string, count: number): Promise<number> {
  const runtime = await openRuntime(product, directory)
  const begun = performance.now()
  const sessions = await runtime.sessions(owner)
  const ms = performance.now() - begun
  await runtime.close()
  if (sessions.length !== count) throw new Error(`sessions() listed ${sessions.length} of ${count}`)
  return ms
}

async function fillProduct(product: Product, directory: string, count: number): Promise<void> {
  const runtime = await openRuntime(product, directory)
  await fillSessions(runtime, count, 1)
  await runtime.close()
}

export const idleStart: BenchCase = {
  name: 'idle-start',
  run: async (env) => {
    const product = productOf(env)
    const count = sized(env, { quick: 500, normal: 10_000 })
    const rounds = sized(env, { quick: 3, normal: 11 })
    const [empty, full, floorFull] = [env.directory(), env.directory(), env.directory()]
    fillHeads(floorFull, count)
    if (product) await fillProduct(product, full, count)
    const floor = floorTimes(floorFull, count)
    const samples = await interleave<'empty' | 'full' | 'list' | 'floorStart' | 'floorList'>(
      { rounds },
      {
        empty: product && (() => productStart(product, empty)),
        full: product && (() => productStart(product, full)),
        list: product && (() => productList(product, full, count)),
        floorStart: floor.start,
        floorList: floor.list,
      },
    )
    const rows: Row[] = [
      sampledRow({ what: 'start, floor: opening raw SQLite', unit: 'ms', goal: '-' }, samples.full, samples.floorStart),
      sampledRow(
        { what: 'start, floor: the product on an empty store', unit: 'ms', goal: 'ratio ≤ 1.2' },
        samples.full,
        samples.empty,
      ),
      sampledRow(
        { what: `list ${count}, floor: raw select of heads`, unit: 'ms', goal: '-' },
        samples.list,
        samples.floorList,
      ),
    ]
    const conditions = `${count} sessions on disk after one turn each, synchronous=FULL, ${rounds} interleaved rounds`
    return resultOf(env, { name: 'idle-start', conditions, rows })
  },
}
