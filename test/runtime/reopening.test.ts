import { describe, expect, it } from 'vitest'
import { checkAll } from './kit/check.ts'
import { openRig, type Rig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, put: { effect: 'idempotent' }, pay: { effect: 'mutate' } } as const

async function status(rig: Rig): Promise<unknown> {
  await rig.time.settle()
  return (await rig.session.tasks())[0]?.status
}

describe('opening again', () => {
  it('writes nothing the second time, nor for what rests', async () => {
    const rig = await openRig({ tools, limits: { graceMs: 0 } })
    await rig.session.start('pay')
    ;(await rig.model.next()).calls(['pay', { id: '1' }])
    await rig.tool('pay').next()
    await rig.session.supersede('pay again')
    await rig.time.advance(0)
    ;(await rig.model.next()).calls(['pay', { id: '2' }])
    await rig.time.settle()
    const before = await rig.stepCount()
    await rig.crashAndReopen()
    await rig.crashAndReopen()
    expect(await rig.stepCount()).toBe(before)
    await rig.session.acknowledge('all')
    expect((await rig.steps()).at(-1)).toBe(
      'session.owned · run.resumed T2 {crash} · mutation.acknowledged {C1} · call.started C2',
    )
    ;(await rig.tool('pay').next()).returns('paid')
    ;(await rig.model.next()).text('paid it')
    await rig.time.settle()
    const after = await rig.stepCount()
    await rig.crashAndReopen()
    await rig.session.state()
    await rig.session.tasks()
    expect(await rig.stepCount()).toBe(after)
    await checkAll(rig)
  })

  it('writes nothing for a finished session, and its first fact after that says who owns it', async () => {
    const rig = await openRig()
    await rig.session.start('the first')
    ;(await rig.model.next()).text('done')
    await rig.time.settle()
    const owner = (await rig.facts())[0]?.owner
    await rig.crashAndReopen()
    await rig.session.start('the second')
    const last = (await rig.facts()).at(-1)
    expect(last?.owner.id).not.toBe(owner?.id)
    expect(last?.owner.epoch).toBeGreaterThan(owner?.epoch ?? 0)
    ;(await rig.model.next()).text('done too')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('does not take a session from an owner that lives', async () => {
    const rig = await openRig()
    await rig.session.start('the first')
    const request = await rig.model.next()
    const before = await rig.stepCount()
    const second = await openRigBeside(rig)
    expect(await rig.stepCount()).toBe(before)
    await second.close()
    request.text('done')
    expect(await status(rig)).toBe('completed')
    await checkAll(rig)
  })
})

async function openRigBeside(rig: Rig): Promise<{ close(): Promise<void> }> {
  const first = rig.runtime
  await rig.open()
  const beside = rig.runtime
  rig.use(first)
  return {
    async close() {
      const closed = beside.close()
      await rig.time.advance(20)
      await closed
    },
  }
}

describe("recovery: 'fail'", () => {
  it('ends what was interrupted, once, and starts what waits', async () => {
    const rig = await openRig({ tools })
    const first = await rig.session.start('do three things')
    const second = await rig.session.followUp('and then this')
    ;(await rig.model.next()).calls(['look'], ['put'], ['pay'])
    await rig.tool('pay').next()
    await rig.crashAndReopen({ recovery: 'fail' })
    expect(await rig.session.task(first.id).outcome()).toMatchObject({ status: 'failed', code: 'RUNTIME_RESTARTED' })
    expect(['look', 'put', 'pay'].map((name) => rig.tool(name).calls.length)).toEqual([1, 1, 1])
    ;(await rig.model.next()).text('and that')
    expect((await rig.session.task(second.id).outcome()).status).toBe('completed')
    await rig.crashAndReopen({ recovery: 'fail' })
    expect((await rig.facts()).filter((fact) => fact.type === 'task.failed').length).toBe(1)
    await checkAll(rig)
  })

  it('ends a turn whose request was in flight', async () => {
    const rig = await openRig()
    const first = await rig.session.start('write a poem')
    await rig.model.next()
    await rig.crashAndReopen({ recovery: 'fail' })
    expect(await rig.session.task(first.id).outcome()).toMatchObject({ status: 'failed', code: 'RUNTIME_RESTARTED' })
    expect(rig.model.asked.length).toBe(1)
    await checkAll(rig)
  })
})

describe('what a session was opened with', () => {
  it('outlives a runtime with other settings: system text, model, and the requests that were sent', async () => {
    const rig = await openRig()
    await rig.session.start('the first')
    const first = await rig.model.next()
    expect(first.request.system).toBe('')
    first.text('done')
    await rig.time.settle()
    await rig.crashAndReopen({ system: 'You are another one.' })
    const requested = (await rig.facts()).find((fact) => fact.type === 'model.requested')
    expect(await rig.session.request({ seq: requested?.seq ?? 0 })).toEqual(first.request)
    await checkAll(rig)
  })

  it('keeps the tools of a turn when the catalog has changed', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('the first')
    const first = await rig.model.next()
    await rig.crashAndReopen({ catalog: [] })
    const second = await rig.model.next()
    expect(second.request.tools).toEqual(first.request.tools)
    second.calls(['look'])
    const third = await rig.model.next()
    expect(third.lastMessage?.content).toContain('STALE_CAPABILITY')
    third.text('gone')
    expect(await status(rig)).toBe('completed')
    await checkAll(rig)
  })
})
