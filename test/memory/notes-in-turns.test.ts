import { expect, it } from 'vitest'
import { verifyAll } from '../capabilities/kit.ts'
import { refusal } from '../runtime/kit/check.ts'
import { openRig, scope } from '../runtime/kit/rig.ts'

const results = (messages: readonly { role: string; content: string }[]) =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(content) as unknown)

it('are written and read by the planner, each in the order of its answer', async () => {
  const rig = await openRig({ memoryPolicy: () => 'allow', limits: { memoryValueBytes: 64 } })
  const handle = await rig.session.start('remember')
  ;(await rig.model.next()).calls(
    ['memory_get', { key: 'plan' }],
    ['memory_put', { key: 'plan', value: ['first'] }],
    ['memory_get', { key: 'plan' }],
    ['memory_put', { key: 'plan', value: 'x'.repeat(100) }],
    ['memory_put', { key: 'plan' }],
    ['memory_get', { key: 'plan', scope: 'world' }],
    ['memory_get', { key: 'plan', scope: 'user' }],
  )
  const second = await rig.model.next()
  const told = results(second.request.messages)
  expect(told).toMatchObject([
    { scope: 'session', found: false },
    { noted: true },
    { scope: 'session', found: true, value: ['first'] },
    { error: { code: 'LIMIT_EXCEEDED', which: 'memoryValueBytes' } },
    { error: { code: expect.stringMatching(/^INVALID_/) } },
    { error: { code: 'INVALID_ARGUMENTS' } },
    { scope: 'user', found: false },
  ])
  second.text('noted')
  expect((await handle.outcome()).status).toBe('completed')
  await rig.session.memory.promote('plan', { to: 'user' })
  await rig.crashAndReopen()
  await rig.session.start('recall')
  ;(await rig.model.next()).calls(
    ['memory_get', { key: 'plan' }],
    ['memory_get', { key: 'plan', scope: 'user' }],
    ['memory_get', { key: 'plan', scope: 'tenant' }],
  )
  const later = (await rig.model.next()).request
  expect(results(later.messages).slice(-3)).toEqual([
    { scope: 'session', found: true, value: ['first'] },
    { scope: 'user', found: true, value: ['first'] },
    { scope: 'tenant', found: false },
  ])
  await verifyAll(rig)
})

it('are bounded for the planner too', async () => {
  const rig = await openRig({ limits: { memoryItems: 1 } })
  await rig.session.start('remember')
  ;(await rig.model.next()).calls(['memory_put', { key: 'a', value: 1 }], ['memory_put', { key: 'b', value: 2 }])
  const { request } = await rig.model.next()
  expect(results(request.messages)).toMatchObject([
    { noted: true },
    { error: { code: 'LIMIT_EXCEEDED', which: 'memoryItems', bound: 1 } },
  ])
  await verifyAll(rig)
})

it('are written and read by a tool, durable when it is told so, and only while its call runs', async () => {
  const rig = await openRig({ tools: { work: { effect: 'read' } }, memoryPolicy: () => 'allow' })
  const handle = await rig.session.start('work')
  ;(await rig.model.next()).calls(['work'])
  const call = await rig.tool('work').next()
  const { memory } = call.context
  expect(await memory.get('plan')).toBeUndefined()
  const put = memory.put('plan', { at: 1 })
  await rig.time.settle()
  await put
  const [fact] = (await rig.facts()).filter(({ type }) => type === 'memory.put')
  const started = (await rig.facts()).find(({ type }) => type === 'call.started')
  expect(fact).toMatchObject({ by: { kind: 'capability', id: 'work' }, cause: started?.id, task: null })
  expect(await memory.get('plan')).toEqual({ at: 1 })
  await rig.session.memory.promote('plan', { to: 'tenant' })
  expect(await memory.get('plan', 'tenant')).toEqual({ at: 1 })
  expect(await memory.get('plan', 'user')).toBeUndefined()
  expect(await refusal(memory.put('plan', undefined as never))).toMatchObject({ code: 'INVALID_INPUT' })
  call.returns('done')
  await rig.time.settle()
  expect(await refusal(memory.put('plan', 2))).toMatchObject({ code: 'INVALID_TRANSITION' })
  expect(await rig.session.memory.get('plan')).toEqual({ at: 1 })
  ;(await rig.model.next()).text('ok')
  expect((await handle.outcome()).status).toBe('completed')
  await verifyAll(rig)
})

it('of a call whose process lost the session are not written', async () => {
  const rig = await openRig({ tools: { work: { effect: 'mutate' } } })
  await rig.session.start('work')
  ;(await rig.model.next()).calls(['work'])
  const call = await rig.tool('work').next()
  const before = rig.runtime
  await rig.crashAndReopen()
  const late = call.context.memory.put('plan', 'from beyond')
  await rig.time.settle()
  const outcome = await Promise.race([
    late.then(
      () => 'written',
      () => 'refused',
    ),
    rig.time.settle().then(() => 'waits'),
  ])
  expect(outcome).not.toBe('written')
  expect(await rig.session.memory.get('plan')).toBeUndefined()
  expect(before).not.toBe(rig.runtime)
  expect((await rig.runtime.session(scope).log()).map(({ type }) => type)).not.toContain('memory.put')
})
