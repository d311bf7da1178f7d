import { expect, it } from 'vitest'
import { readTraceparent, traceparentForm } from '../../src/facts/trace-context.ts'
import { checkAll, refusal } from './kit/check.ts'
import { openRig } from './kit/rig.ts'

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const other = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

it('carries a traceparent from the command to every attempt of a call, also after a crash', async () => {
  const rig = await openRig({ tools: { look: { effect: 'read' } } })
  const handle = await rig.session.start('go', { traceparent, commandId: 'c' })
  ;(await rig.model.next()).calls(['look'])
  const first = await rig.tool('look').next()
  expect(await rig.session.start('go', { traceparent: other, commandId: 'c' })).toMatchObject({
    id: handle.id,
    receipt: { result: 'duplicate' },
  })
  await rig.crashAndReopen()
  const second = await rig.tool('look').next()
  const [one, two] = [first, second].map((call) => readTraceparent(call.context.traceparent))
  expect(one).toMatchObject({ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', flags: 1 })
  expect(two?.traceId).toBe(one?.traceId)
  expect(two?.spanId).not.toBe(one?.spanId)
  second.returns('seen')
  ;(await rig.model.next()).text('done')
  await rig.time.settle()
  expect((await rig.facts()).find((fact) => fact.type === 'task.created')?.data).toMatchObject({ traceparent })
  await checkAll(rig)
})

it('makes one up from the id of the task where nobody brought one', async () => {
  const rig = await openRig({ tools: { look: { effect: 'read' } } })
  await rig.session.start('go')
  ;(await rig.model.next()).calls(['look'], ['look', { id: 'b' }])
  const made = [await rig.tool('look').next(), await rig.tool('look').next()].map((call) => call.context.traceparent)
  for (const each of made) expect(each ?? '').toMatch(traceparentForm)
  expect(new Set(made.map((each) => readTraceparent(each)?.traceId)).size).toBe(1)
  expect(new Set(made).size).toBe(2)
})

it.each(['', 'x', '00-00000000000000000000000000000000-00f067aa0ba902b7-01', `${traceparent} secret`])(
  'refuses %j before anything is written',
  async (given) => {
    const rig = await openRig()
    expect((await refusal(rig.session.start('go', { traceparent: given }))).code).toBe('INVALID_INPUT')
    expect(await rig.facts()).toEqual([])
  },
)
