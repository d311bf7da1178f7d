import { chmodSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { alice, bob, sidOf, tamper, twoSessions } from '../testing/stored-sessions.ts'
import { landfallProcess, main, start, workFolder } from './cli-process.ts'
import { landfall } from './landfall.ts'

// Processes are started here, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const all = ['verify', '--all', '--db', 'store.db']

async function store(): Promise<{ cwd: string; file: string }> {
  const cwd = workFolder()
  const file = join(cwd, 'store.db')
  await twoSessions(file)
  return { cwd, file }
}

it('prints a line a session, or an object', async () => {
  const { cwd } = await store()
  const { code, out, err } = await landfall(all, { cwd })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out.trim().split('\n')).toEqual([
    expect.stringMatching(/^ok t\/alice\/talk facts=\d+ requests=6 head=[0-9a-f]{64}$/),
    expect.stringMatching(/^ok t\/bob\/talk facts=\d+ requests=2 head=[0-9a-f]{64}$/),
  ])
  const json = await landfall([...all, '--json'], { cwd })
  expect(
    json.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { ok: true, tenant: 't', user: 'alice', session: 'talk', requests: 6, violations: [] },
    { ok: true, user: 'bob' },
  ])
  const own = await landfall(['verify', '--db', 'store.db', '--tenant', 't', '--user', 'bob'], { cwd })
  expect(own.out).toMatch(/^ok t\/bob\/talk [^\n]+\n$/)
  expect((await landfall(['verify', '--db', 'store.db', '--session', 'never'], { cwd })).code).toBe(1)
})

const edit = `UPDATE steps SET body = replace(body, '"durationMs":', '"durationMs":1') WHERE cursor = ?`
const last = 'SELECT max(cursor) FROM steps WHERE sid = ?'
const manipulations = {
  'an edited record': [`SELECT min(cursor) FROM steps WHERE sid = ? AND body LIKE '%"durationMs"%'`, edit],
  'an edited record, the last one': [last, edit],
  'a deleted record': [
    'SELECT min(cursor) + 0 FROM steps WHERE sid = ? AND first_seq > 3',
    'DELETE FROM steps WHERE cursor = ?',
  ],
  'a deleted record, the last one': [last, 'DELETE FROM steps WHERE cursor = ?'],
  'a record cut short': [last, 'UPDATE steps SET body = substr(body, 1, 40) WHERE cursor = ?'],
} as const

it.each(Object.entries(manipulations))('finds %s and names session, seq and invariant', async (_, [find, change]) => {
  const { cwd, file } = await store()
  let seq = 0
  tamper(file, (db) => {
    const cursor = db.prepare(find).pluck().get(sidOf(db, bob))
    const place = db.prepare('SELECT first_seq, count FROM steps WHERE cursor = ?').get(cursor) as {
      first_seq: number
      count: number
    }
    seq = place.first_seq
    expect(db.prepare(change).run(cursor).changes).toBe(1)
    // A hole shows at the fact behind it.
    if (change.startsWith('DELETE') && find !== last) seq += place.count
  })
  const { code, out } = await landfall(all, { cwd })
  expect(code).toBe(1)
  expect(out).toMatch(new RegExp(`^violation t/bob/talk seq=${seq} INV-09 .+$`, 'm'))
  expect(out).toMatch(/^ok t\/alice\/talk /m)
  const json = await landfall([...all, '--json'], { cwd })
  const bobs = json.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .find(({ user }) => user === 'bob')
  expect(bobs).toMatchObject({ ok: false })
  expect(bobs.violations).toContainEqual({ seq, invariant: 'INV-09', message: expect.any(String) })
})

it('finds a whole session taken away, and names it from heads kept elsewhere', async () => {
  const { cwd, file } = await store()
  writeFileSync(join(cwd, 'heads.txt'), (await landfall(all, { cwd })).out)
  writeFileSync(join(cwd, 'heads.jsonl'), (await landfall([...all, '--json'], { cwd })).out)
  expect((await landfall([...all, '--head', 'heads.txt'], { cwd })).code).toBe(0)
  tamper(file, (db) => {
    const sid = sidOf(db, alice)
    db.prepare('DELETE FROM steps WHERE sid = ?').run(sid)
    db.prepare('DELETE FROM sessions WHERE sid = ?').run(sid)
  })
  const plain = await landfall(all, { cwd })
  expect(plain).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^violation _store\/_store\/_store seq=0 INV-09 /m),
  })
  for (const heads of ['heads.txt', 'heads.jsonl']) {
    const { code, out } = await landfall([...all, '--head', heads], { cwd })
    expect(code).toBe(1)
    expect(out).toMatch(/^violation t\/alice\/talk seq=1 INV-09 /m)
  }
  expect((await landfall([...all, '--head', 'look.json'], { cwd })).code).toBe(2)
  writeFileSync(join(cwd, 'empty.txt'), '\n')
  expect(await landfall([...all, '--head', 'empty.txt'], { cwd })).toMatchObject({ code: 2, out: '' })
})

it('reads only: a store that may not be written is refused for a turn, with a code, and stays valid', async (context) => {
  const { cwd, file } = await store()
  const nobody = 65_534
  const isRoot = process.getuid?.() === 0
  const as = isRoot ? { uid: nobody } : {}
  // Permissions mean nothing to the superuser, so the command runs as somebody else, if that one can run it at all.
  if (isRoot && (await start(['--version'], { cwd: '/', ...as }).ended.catch(() => ({ code: 1 }))).code !== 0)
    context.skip(`nobody may not run ${dirname(main)}`)
  chmodSync(cwd, 0o555)
  chmodSync(file, 0o444)
  const run = await landfallProcess(['run', 'hello', '--db', 'store.db', '--model', 'script:say.json'], { cwd, ...as })
  chmodSync(cwd, 0o755)
  chmodSync(file, 0o644)
  expect(run).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^STORE_(READONLY|IO): /) })
  expect((await landfall(all, { cwd })).code).toBe(0)
})

it('a full store ends the turn with its code; the log stays valid and the turn is carried on when there is room', async () => {
  const cwd = workFolder()
  writeFileSync(join(cwd, 'small.json'), '{"maxStoreBytes": 110000}')
  const input = 'x'.repeat(6_000)
  writeFileSync(join(cwd, 'long.json'), JSON.stringify({ everyTurn: [{ text: '{{input}}'.repeat(8) }] }))
  // A process that ends leaves its turn to the next one.
  const words = ['run', '-', '--config', 'small.json', '--model', 'script:long.json']
  const full = await landfallProcess(words, { cwd, input })
  expect(full).toMatchObject({ code: 1, out: '', err: expect.stringContaining('STORE_FULL: ') })
  expect((await landfall(['verify'], { cwd })).code).toBe(0)
  const more = await landfall(['follow-up', 'and now', '--quiet', '--model', 'script:long.json'], { cwd })
  expect(more).toMatchObject({ code: 0, out: `${'and now'.repeat(8)}\n` })
  const tasks = JSON.parse((await landfall(['tasks', '--json'], { cwd })).out)
  expect(tasks.map(({ status }: { status: string }) => status)).toEqual(['completed', 'completed'])
  expect((await landfall(['verify'], { cwd })).code).toBe(0)
})

it('is no store: says so', async () => {
  const cwd = workFolder()
  expect(await landfall(['verify'], { cwd })).toMatchObject({ code: 1, err: expect.stringMatching(/^NOT_FOUND: /) })
  expect(await landfall(['verify', '--db', 'look.json'], { cwd })).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^LOG_CORRUPT: /),
  })
})
