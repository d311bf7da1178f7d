import { expect, it, onTestFinished } from 'vitest'
import { memoryLog, openRuntime, scriptedModel } from '../../src/index.ts'
import { countedLoop } from '../facts/counted-loop.ts'

/** A runtime whose every look at free text takes a millisecond, by a clock that only that moves. */
async function slowRuntime() {
  let now = Date.now()
  const { scheduler, turn } = countedLoop()
  const look = <T>(value: T): T => {
    now += 1
    return value
  }
  const runtime = await openRuntime({
    log: memoryLog(),
    model: scriptedModel({ everyTurn: [{ hang: true }] }),
    clock: { now: () => now },
    scheduler,
    redactor: { name: 'slow', text: look, value: look },
    limits: { graceMs: 0 },
  })
  onTestFinished(() => runtime.close())
  return { runtime, turn, session: runtime.session({ tenant: 't', user: 'u', session: 's' }) }
}

const settled = (all: readonly Promise<unknown>[]) => Promise.all(all)

it('commands that are sent in one burst are carried out in their order, over many turns of the loop', async () => {
  const { session, turn } = await slowRuntime()
  const before = turn()
  const ids = Array.from({ length: 60 }, (_, at) => `note-${at}`)
  await settled(ids.map((id) => session.memory.put(id, true, { commandId: id })))
  const accepted = (await session.log()).flatMap(({ type, command }) => (type === 'command.accepted' ? [command] : []))
  expect(accepted).toEqual(ids)
  // Each command is looked at for a millisecond or more, and five of these are a stretch.
  expect(turn() - before).toBeGreaterThan(ids.length / 5)
})

it('says what stood in a command when it was sent, also when it had to wait', async () => {
  const { session } = await slowRuntime()
  const value = { said: 'before' }
  const sent = Array.from({ length: 20 }, (_, at) => session.memory.put(`note-${at}`, value, { commandId: `id-${at}` }))
  value.said = 'after'
  await settled(sent)
  expect(await session.memory.get('note-19')).toEqual({ said: 'before' })
})

it('a command that waits while the runtime closes is told so', async () => {
  const { runtime, session } = await slowRuntime()
  const sent = Array.from({ length: 40 }, (_, at) => session.memory.put(`note-${at}`, true, { commandId: `id-${at}` }))
  const told = Promise.allSettled(sent)
  await runtime.close()
  for (const each of await told)
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'SHUTTING_DOWN', retryable: true })
})
