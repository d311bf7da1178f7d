import { describe, expect, it } from 'vitest'
import { checkRun } from './kit/check-run.ts'
import { type Options, Scenario } from './kit/scenario.ts'

/** What crashes lead to. A matrix that shows none of it has not cut where it matters. */
const consequences = ['session.owned', 'run.resumed', 'model.abandoned', 'call.unknown', 'mutation.acknowledged']

async function ran(options: Options): Promise<Scenario> {
  const run = new Scenario(options)
  await run.run()
  return run
}

/** Writes of a run that nothing disturbs. */
async function writesOf(options: Omit<Options, 'cuts'>): Promise<number> {
  const run = await ran({ ...options, cuts: [] })
  const { writes } = run
  const facts = await checkRun(run)
  const counted = new Map<string, number>()
  for (const { type } of facts) counted.set(type, (counted.get(type) ?? 0) + 1)
  const course = ['pause.settled', 'steering.applied', 'task.blocked', 'task.unblocked', 'model.failed', 'call.started']
  expect(course.map((type) => counted.get(type))).toEqual([2, 1, 1, 1, 1, 12])
  expect(['task.awaiting', 'task.await_settled'].map((type) => counted.get(type))).toEqual([1, 1])
  return writes
}

describe('a process that dies at any of its writes', () => {
  it.each([
    ['resumed, then closed', {}],
    ['resumed with a rest at what is unknown, then erased', { onUnknown: 'pause', end: 'erase' }],
    ['failed at the restart, then closed', { recovery: 'fail' }],
  ] as const)(
    'leaves a state that holds every invariant, each change at most once: %s',
    { timeout: 120_000 },
    async (_, options) => {
      const writes = await writesOf(options)
      const seen = new Set<string>()
      expect(writes).toBeGreaterThan(20)
      for (let write = 1; write <= writes; write += 1)
        for (const when of ['before', 'after'] as const) {
          const run = await ran({ ...options, cuts: [{ write, when }] })
          const facts = await checkRun(run).catch((error: unknown) => {
            throw new Error(`cut ${when} write ${write}`, { cause: error })
          })
          for (const fact of facts) seen.add(fact.type)
        }
      for (const type of consequences) expect(seen).toContain(type)
    },
  )

  it.each([1, 2, 3])('again and again, every %i writes', { timeout: 60_000 }, async (write) => {
    for (const when of ['after', 'before'] as const) {
      if (write === 1 && when === 'before') continue
      const run = await ran({ cuts: Array.from({ length: 60 }, () => ({ write: write + 1, when })) })
      await checkRun(run)
    }
  })
})
