import { describe, expect, it } from 'vitest'
import { checkAll } from './kit/check.ts'
import { openRig, type Rig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, pay: { effect: 'mutate' }, put: { effect: 'idempotent' } } as const

const userTexts = (request: { request: { messages: readonly { role: string; content: string }[] } }) =>
  request.request.messages.filter((message) => message.role === 'user').map((message) => message.content)

describe('steering that is pending when its turn ends', () => {
  async function steeredAndCancelled(rig: Rig, steering: 'inherit' | 'expire') {
    await rig.session.start('pay the bill')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    const receipt = await rig.session.steer('and be quick')
    await rig.session.cancel({ steering })
    call.acknowledges()
    await rig.time.settle()
    return receipt
  }

  it('is inherited by the next turn and applied at its first boundary', async () => {
    const rig = await openRig({ tools })
    await steeredAndCancelled(rig, 'inherit')
    const terminal = (await rig.facts()).find((fact) => fact.type === 'task.cancelled')
    const queued = (await rig.facts()).find((fact) => fact.type === 'steering.queued')
    expect(terminal?.data.pendingSteering).toEqual([queued?.type === 'steering.queued' ? queued.data.message : ''])
    expect((await rig.session.state()).steering.length).toBe(1)
    await rig.session.start('pay it now')
    const request = await rig.model.next()
    expect(userTexts(request)).toEqual(['pay the bill', 'pay it now', 'and be quick'])
    expect((await rig.steps()).at(-1)).toBe(
      'task.created T2 {start} · task.started T2 · steering.inherited T2 {S1} · message.added T2 {user} · ' +
        'steering.applied T2 {S1} · message.added T2 {user} · context.accounted T2 · model.requested T2',
    )
    request.text('paid')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('is inherited by a follow-up, over a restart', async () => {
    const rig = await openRig({ tools })
    await steeredAndCancelled(rig, 'inherit')
    await rig.crashAndReopen()
    await rig.session.followUp('pay it later')
    const request = await rig.model.next()
    expect(userTexts(request).at(-1)).toBe('and be quick')
    request.text('paid')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('expires in the step of the end when the command said so', async () => {
    const rig = await openRig({ tools })
    await steeredAndCancelled(rig, 'expire')
    expect((await rig.steps()).at(-1)).toMatch(/steering\.expired T1 \{S1\}/)
    expect((await rig.steps()).at(-1)).toMatch(/task\.cancelled T1/)
    await rig.session.start('pay it now')
    expect(userTexts(await rig.model.next())).toEqual(['pay the bill', 'pay it now'])
    await checkAll(rig)
  })

  it('expires when the turn is superseded', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('pay the bill')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    await rig.session.steer('and be quick')
    await rig.session.supersede('do not pay')
    call.acknowledges()
    const request = await rig.model.next()
    expect(userTexts(request)).not.toContain('and be quick')
    const last = (await rig.steps()).at(-1) ?? ''
    expect(last).toMatch(
      /task\.superseded T1.*steering\.expired T1 \{S1\}|steering\.expired T1 \{S1\}.*task\.superseded T1/,
    )
    request.text('not paid')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('is inherited from a turn that was cancelled before it was superseded', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('pay the bill')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    await rig.session.steer('and be quick')
    await rig.session.cancel()
    await rig.session.supersede('do something else')
    call.acknowledges()
    const request = await rig.model.next()
    const expired = (await rig.facts()).some((fact) => fact.type === 'steering.expired')
    expect(userTexts(request).includes('and be quick')).toBe(!expired)
    request.text('did')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('expires when the session closes', async () => {
    const rig = await openRig({ tools })
    await steeredAndCancelled(rig, 'inherit')
    await rig.session.close()
    expect((await rig.steps()).at(-1)).toMatch(
      /^session\.closing \{close\} · steering\.expired (T1 )?\{S1\} · session\.closed$/,
    )
    await rig.session.reopen()
    await rig.session.start('pay it now')
    expect(userTexts(await rig.model.next())).toEqual(['pay the bill', 'pay it now'])
    await checkAll(rig)
  })
})
