import { expect, it } from 'vitest'
import { handOffNote } from '../../src/context/hand-off.ts'
import { utf8Bytes } from '../../src/context/occupancy.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { loadNewest } from '../../src/runtime/load-world.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { verifyStore } from '../../src/testing/verify-store.ts'

const scope = { tenant: 't', user: 'u', session: 's' }
const windowTokens = 16 * 1024

/*
 * Every queued turn is told how those ended that were ahead of it. Together these notes are of the order of the square of the
 * queue, so they must neither grow with it nor stay for ever: they would fill the window, and no later turn could start.
 */
it('a long queue leaves a session that works: each turn is told of those before it within bounds', async () => {
  const log = memoryLog()
  const model = scriptedModel({
    name: 'm',
    turns: [[{ hang: true }]],
    everyTurn: [{ text: 'done {{count:messages}}' }],
  })
  const context = { windowTokens, reserveTokens: 512, tailMessages: 8 }
  const runtime = await openRuntime({ log, model, context, limits: { graceMs: 0 } })
  const session = runtime.session(scope)
  await session.start('wait')
  const waiting = []
  for (let nth = 0; nth < 200; nth += 1) waiting.push(await session.followUp(`and then, ${nth}`))
  await session.cancel()
  for (const handle of waiting) expect((await handle.outcome()).status).toBe('completed')
  expect((await (await session.start('still there?')).outcome()).status).toBe('completed')
  const facts = await session.log()
  const added = facts.flatMap((fact) => (fact.type === 'message.added' ? [fact.data] : []))
  const notes = added.filter(({ role }) => role === 'system')
  expect(notes.length).toBe(200)
  expect(Math.max(...notes.map(({ bytes }) => bytes))).toBeLessThan(4_096)
  expect(facts.some((fact) => fact.type === 'context.compacted')).toBe(true)
  const { world } = await loadNewest(log, scope)
  const all = [...world.taskRecords.values()]
  const told = handOffNote(all, new Map()) ?? ''
  expect(utf8Bytes(told)).toBeLessThan(4_096)
  expect(told).toMatch(/^194 earlier turns .*completed: 193, failed: 0, cancelled: 1, superseded: 0/)
  await runtime.close()
  for await (const verdict of verifyStore(log)) expect(verdict.violations).toEqual([])
}, 60_000)
