import { expect, it } from 'vitest'
import { checkAll, refusal } from './kit/check.ts'
import { openRig, type Rig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, pay: { effect: 'mutate' } } as const

/** A second process takes the session over while the first one sleeps past its lease and knows nothing of it. */
async function takenOver(rig: Rig) {
  const sleeper = rig.runtime
  rig.time.jump(60_000)
  await rig.open()
  const taker = rig.runtime
  return { sleeper, taker }
}

it('lets a new owner finish, and nothing of the old one is written or begun', async () => {
  const rig = await openRig({ tools })
  const handle = await rig.session.start('pay and look')
  ;(await rig.model.next()).calls(['pay'], ['look'])
  const [pay, look] = [await rig.tool('pay').next(), await rig.tool('look').next()]
  const { sleeper, taker } = await takenOver(rig)
  const lookAgain = await rig.tool('look').next()
  pay.returns('paid, says the sleeper')
  look.returns('seen, says the sleeper')
  await rig.time.settle()
  lookAgain.returns('seen, says the taker')
  ;(await rig.model.next()).text('done')
  expect(await taker.session(rig.session.scope).task(handle.id).outcome()).toMatchObject({
    status: 'completed',
    calls: { unknownMutating: 1, succeededMutating: 0 },
  })
  expect(rig.model.asked.length).toBe(2)
  const epochs = (await rig.facts()).map((fact) => fact.owner.epoch)
  expect(epochs).toEqual([...epochs].sort((a, b) => a - b))
  expect((await rig.facts()).some((fact) => fact.type === 'call.late')).toBe(false)
  await checkAll(rig)
  const closed = sleeper.close()
  await rig.time.advance(20_000)
  await closed
})

it('drops an answer of a model that was asked by an owner that lost the session', async () => {
  const rig = await openRig({ tools })
  await rig.session.start('pay')
  const old = await rig.model.next()
  await takenOver(rig)
  old.calls(['pay'])
  await rig.time.settle()
  expect(rig.tool('pay').calls).toEqual([])
  ;(await rig.model.next()).text('no need to pay')
  await rig.time.settle()
  expect((await rig.session.tasks())[0]?.status).toBe('completed')
  await checkAll(rig)
})

it('keeps an owner that renews in time, whoever opens the store beside it', async () => {
  const rig = await openRig({ tools })
  await rig.session.start('look')
  ;(await rig.model.next()).calls(['look'])
  const look = await rig.tool('look').next()
  const first = rig.runtime
  await rig.time.advance(60_000)
  await rig.open()
  const beside = rig.runtime
  rig.use(first)
  look.returns('seen')
  ;(await rig.model.next()).text('done')
  await rig.time.settle()
  expect((await rig.facts()).some((fact) => fact.type === 'session.owned')).toBe(false)
  expect((await rig.session.tasks())[0]?.status).toBe('completed')
  const closed = beside.close()
  await rig.time.advance(100)
  await closed
  await checkAll(rig)
})

it('refuses commands of a runtime that is closed', async () => {
  const rig = await openRig()
  await rig.session.start('begin')
  await rig.model.next()
  const session = rig.session
  await rig.close()
  expect((await refusal(session.cancel())).code).toBe('SHUTTING_DOWN')
  await rig.open()
  ;(await rig.model.next()).text('went on')
  await rig.time.settle()
  await checkAll(rig)
})
