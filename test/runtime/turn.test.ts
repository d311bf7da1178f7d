import { expect, it } from 'vitest'
import { checkAll } from './kit/check.ts'
import { openRig } from './kit/rig.ts'

it('makes a turn with one tool call in four commits', async () => {
  const rig = await openRig({ tools: { look: { effect: 'read' } } })
  const handle = await rig.session.start('please look around')
  ;(await rig.model.next()).calls(['look', { id: 'a' }])
  const call = await rig.tool('look').next()
  call.returns('it is sunny')
  ;(await rig.model.next()).text('it is sunny outside')
  expect(await handle.outcome()).toMatchObject({ status: 'completed', message: 'it is sunny outside', steps: 2 })
  expect(await rig.steps()).toEqual([
    'session.opened · task.created T1 {start} · task.started T1 · message.added T1 {user} · context.accounted T1 · model.requested T1',
    'model.completed T1 · message.added T1 {assistant} · call.requested C1 · call.started C1',
    'call.finished C1 · message.added T1 {tool C1} · context.accounted T1 · model.requested T1',
    'model.completed T1 · message.added T1 {assistant} · task.completed T1',
  ])
  await checkAll(rig)
})

it('runs the calls of one answer side by side and gives results in call order', async () => {
  const rig = await openRig({ tools: { look: { effect: 'read' } } })
  const handle = await rig.session.start('look at two things')
  ;(await rig.model.next()).calls(['look', { id: 'a' }], ['look', { id: 'b' }])
  const first = await rig.tool('look').next()
  const second = await rig.tool('look').next()
  second.returns('second thing')
  expect(await rig.model.waiting()).toBe(0)
  first.returns('first thing')
  const request = await rig.model.next()
  expect(request.request.messages.slice(-2)).toEqual([
    { role: 'tool', content: 'first thing', toolCallId: first.id },
    { role: 'tool', content: 'second thing', toolCallId: second.id },
  ])
  request.text('both are fine')
  expect((await handle.outcome()).calls).toMatchObject({ total: 2, failed: 0 })
  expect((await rig.steps()).slice(1)).toEqual([
    'model.completed T1 · message.added T1 {assistant} · call.requested C1 · call.requested C2 · call.started C1 · call.started C2',
    'call.finished C2',
    'call.finished C1 · message.added T1 {tool C1} · message.added T1 {tool C2} · context.accounted T1 · model.requested T1',
    'model.completed T1 · message.added T1 {assistant} · task.completed T1',
  ])
  await checkAll(rig)
})

it('starts no more than sixteen calls at a time, and the next one when one has ended', async () => {
  const rig = await openRig({ tools: { look: { effect: 'read' } } })
  await rig.session.start('look at many things')
  const asked = Array.from({ length: 20 }, (_, index) => ['look', { id: String(index) }] as const)
  ;(await rig.model.next()).calls(...asked)
  await rig.time.settle()
  const { calls } = rig.tool('look')
  expect(calls.map((call) => call.args)).toEqual(asked.slice(0, 16).map(([, args]) => args))
  calls[5]?.returns('six')
  await rig.time.settle()
  expect(calls.length).toBe(17)
  for (const call of [...calls]) call.returns('looked')
  await rig.time.settle()
  expect(calls.length).toBe(20)
  for (const call of calls) call.returns('looked')
  const request = await rig.model.next()
  expect(request.request.messages.filter((message) => message.role === 'tool').map((m) => m.toolCallId)).toEqual(
    calls.map((call) => call.id),
  )
  request.text('seen')
  await rig.time.settle()
  await checkAll(rig)
})

it('goes on when much time passes between its effects, because the lease is renewed', async () => {
  const rig = await openRig({ tools: { look: { effect: 'read' } } })
  const handle = await rig.session.start('take your time')
  ;(await rig.model.next()).calls(['look'])
  const call = await rig.tool('look').next()
  await rig.time.advance(3_600_000)
  call.returns('an hour later')
  ;(await rig.model.next()).text('that took long')
  expect((await handle.outcome()).status).toBe('completed')
  await checkAll(rig)
})

it('goes on after the machine slept for longer than the lease', async () => {
  const rig = await openRig({ tools: { look: { effect: 'read' } } })
  const handle = await rig.session.start('sleep over it')
  ;(await rig.model.next()).calls(['look'])
  const call = await rig.tool('look').next()
  rig.time.jump(3_600_000)
  call.returns('good morning')
  await rig.time.advance(20_000)
  ;(await rig.model.next()).text('awake again')
  expect((await handle.outcome()).status).toBe('completed')
  await checkAll(rig)
})

it('keeps text and reasoning out of facts and gives them as deltas in order', async () => {
  const rig = await openRig()
  const seen: unknown[] = []
  rig.runtime.events({ tenant: 't', user: 'u', session: 's' }, { ephemeral: true }).subscribe((event) => {
    if (event.type === 'model.delta') seen.push([event.after, event.index, event.kind, event.text])
  })
  await rig.session.start('tell me something long')
  const request = await rig.model.next()
  request.send(
    { type: 'reasoning', text: 'thinking about it. ' },
    { type: 'text', text: 'one ' },
    { type: 'text', text: 'two' },
  )
  request.says({})
  await rig.time.settle()
  const requested = (await rig.facts()).find((fact) => fact.type === 'model.requested')
  const texts = seen.map((delta) => (delta as unknown[])[3]).join('')
  expect(texts).toContain('thinking about it. ')
  expect(texts).toContain('one two')
  expect(seen.map((delta) => (delta as unknown[])[0])).toEqual(seen.map(() => requested?.seq))
  expect((await rig.session.messages()).at(-1)?.content).toBe('one two')
  await checkAll(rig)
})
