import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { countedLoop } from '../facts/counted-loop.ts'

const pieceMs = 5

/** Pieces of work that cost time of this thread, by a clock that nothing else moves; counted by turn of the loop. */
function countedWork() {
  let now = Date.UTC(2026, 0)
  const { scheduler, turn } = countedLoop()
  const counts = new Map<string, number>()
  const piece = (kind: string) => {
    now += pieceMs
    const key = `${kind} ${turn()}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const of = (kind: string) => [...counts].filter(([key]) => key.startsWith(kind)).map(([, count]) => count)
  return { clock: { now: () => now }, scheduler, piece, of }
}

it('sessions that all work at once leave the loop to others after a few of them, and lose nothing by it', async () => {
  const { clock, scheduler, piece, of } = countedWork()
  const tool = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({}),
    effect: 'read',
    run: () => 'seen',
  })
  const runtime = await openRuntime({
    log: memoryLog(),
    model: scriptedModel({ everyTurn: [{ text: 'done' }] }),
    catalog: [tool],
    clock,
    scheduler,
    policy: () => {
      piece('planned')
      return { level: 'execute', confirm: 'none' }
    },
  })
  const sessions = Array.from({ length: 64 }, (_, at) =>
    runtime.session({ tenant: 't', user: 'u', session: `session-${at}` }),
  )
  for (const { scope } of sessions)
    runtime.events(scope).subscribe(({ type }) => {
      if (type === 'task.started' || type === 'task.completed') piece(type)
    })
  const outcomes = await Promise.all(sessions.map(async (session) => (await session.start('go')).outcome()))
  expect(outcomes.map(({ status }) => status)).toEqual(sessions.map(() => 'completed'))
  await runtime.close()
  for (const kind of ['planned', 'task.started', 'task.completed']) {
    expect(of(kind).reduce((sum, count) => sum + count, 0)).toBe(64)
    // A stretch of 5 ms, and the piece that goes over its end.
    expect(Math.max(...of(kind)), kind).toBeLessThanOrEqual(5 / pieceMs + 1)
  }
})
