import { describe, expect, it } from 'vitest'
import { checkAll, refusal } from './kit/check.ts'
import { openRig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, pay: { effect: 'mutate' } } as const

describe('follow-ups', () => {
  it('start one after the other, each after the end of the one before', async () => {
    const rig = await openRig()
    const first = await rig.session.start('the first')
    const second = await rig.session.followUp('the second')
    const third = await rig.session.followUp('the third')
    expect([first, second, third].map((handle) => handle.receipt.result)).toEqual(['applied', 'queued', 'queued'])
    const queue = await rig.session.queue()
    expect(queue.map((task) => [task.id, task.state, task.requires, task.predecessor])).toEqual([
      [second.id, 'queued', 'none', first.id],
      [third.id, 'queued', 'none', second.id],
    ])
    for (const words of ['the first', 'the second', 'the third']) {
      const request = await rig.model.next()
      expect(request.lastMessage).toMatchObject({ role: 'user', content: words })
      request.text(`done: ${words}`)
    }
    await rig.time.settle()
    expect((await rig.steps()).slice(3)).toEqual([
      'model.completed T1 · message.added T1 {assistant} · task.completed T1 · task.started T2 · message.added T2 {system} · ' +
        'message.added T2 {user} · context.accounted T2 · model.requested T2',
      'model.completed T2 · message.added T2 {assistant} · task.completed T2 · task.started T3 · message.added T3 {system} · ' +
        'message.added T3 {user} · context.accounted T3 · model.requested T3',
      'model.completed T3 · message.added T3 {assistant} · task.completed T3',
    ])
    await checkAll(rig)
  })

  it('that wait see of their predecessor its words and its answer, and nothing of its tools', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('look at it')
    await rig.session.followUp('and then?')
    ;(await rig.model.next()).says({ text: 'let me think', calls: [{ name: 'look', arguments: {} }] })
    ;(await rig.tool('look').next()).returns('a secret sight')
    ;(await rig.model.next()).text('I have seen it')
    const request = await rig.model.next()
    const messages = request.request.messages.map((message) => [message.role, message.content])
    expect(messages.filter(([role]) => role !== 'system')).toEqual([
      ['user', 'look at it'],
      ['assistant', 'I have seen it'],
      ['user', 'and then?'],
    ])
    const note = messages.find(([role]) => role === 'system')?.[1] ?? ''
    expect(note).toContain('completed')
    expect(note).not.toContain('a secret sight')
    request.text('that is all')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('run after a cancelled turn when they require nothing', async () => {
    const rig = await openRig()
    await rig.session.start('the first')
    const second = await rig.session.followUp('the second')
    await rig.model.next()
    await rig.session.cancel()
    ;(await rig.model.next()).text('done')
    expect((await second.outcome()).status).toBe('completed')
    await checkAll(rig)
  })

  it('start afresh: steps and denials of another turn do not count', async () => {
    const rig = await openRig({ limits: { stepsPerTurn: 2 } })
    const first = await rig.session.start('the first')
    const second = await rig.session.followUp('the second')
    for (const handle of [first, second]) {
      ;(await rig.model.next()).calls(['nothing', { id: 'a' }])
      ;(await rig.model.next()).text('never mind')
      expect(await handle.outcome()).toMatchObject({ status: 'completed', steps: 2, calls: { total: 1 } })
    }
    await checkAll(rig)
  })
})

describe('a follow-up that requires success', () => {
  it('runs when its predecessor completed', async () => {
    const rig = await openRig()
    await rig.session.start('the first')
    const second = await rig.session.followUp('the second', { requires: 'success' })
    ;(await rig.model.next()).text('first done')
    ;(await rig.model.next()).text('second done')
    expect((await second.outcome()).status).toBe('completed')
    await checkAll(rig)
  })

  it('is blocked otherwise, holds back what is behind it, and waits for the operator over a restart', async () => {
    const rig = await openRig()
    const first = await rig.session.start('the first')
    const second = await rig.session.followUp('the second', { requires: 'success' })
    const third = await rig.session.followUp('the third')
    ;(await rig.model.next()).fails('NO', false)
    await first.outcome()
    await rig.time.settle()
    expect((await rig.steps()).at(-1)).toMatch(/task\.failed T1 \{.*\} · task\.blocked T2 \{T1 failed\}$/)
    expect((await rig.session.queue()).map((task) => task.state)).toEqual(['blocked', 'queued'])
    await rig.crashAndReopen()
    await rig.time.settle()
    expect(rig.model.asked.length).toBe(1)
    expect((await rig.session.queue()).map((task) => task.state)).toEqual(['blocked', 'queued'])
    expect(await rig.session.unblock(second.id)).toMatchObject({ result: 'applied', task: second.id })
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toBe('the second')
    request.text('second done')
    ;(await rig.model.next()).text('third done')
    expect((await rig.session.task(third.id).outcome()).status).toBe('completed')
    await checkAll(rig)
  })

  it('lets those behind it go on when it is cancelled, and blocks its own dependants', async () => {
    const rig = await openRig()
    const first = await rig.session.start('the first')
    const second = await rig.session.followUp('the second', { requires: 'success' })
    const third = await rig.session.followUp('the third', { requires: 'success' })
    const fourth = await rig.session.followUp('the fourth')
    await rig.session.cancel({ task: first.id })
    await rig.session.cancel({ task: second.id })
    expect((await rig.session.queue()).map((task) => [task.id, task.state])).toEqual([
      [third.id, 'blocked'],
      [fourth.id, 'queued'],
    ])
    await rig.session.cancel({ task: third.id })
    await rig.model.next()
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toBe('the fourth')
    request.text('done')
    expect((await fourth.outcome()).status).toBe('completed')
    await checkAll(rig)
  })

  it('is blocked at once when its predecessor has already ended badly', async () => {
    const rig = await openRig()
    await rig.session.start('the first')
    await rig.session.cancel()
    const second = await rig.session.followUp('the second', { requires: 'success' })
    expect(second.receipt.result).toBe('queued')
    expect((await rig.session.queue()).map((task) => task.state)).toEqual(['blocked'])
    expect((await rig.steps()).at(-1)).toBe('task.created T2 {follow_up} · task.blocked T2 {T1 cancelled}')
    const other = await rig.session.start('something else')
    expect(other.receipt.result).toBe('applied')
    await rig.model.next()
    ;(await rig.model.next()).text('done')
    await other.outcome()
    expect((await rig.session.queue()).map((task) => [task.id, task.state])).toEqual([[second.id, 'blocked']])
    await checkAll(rig)
  })

  it('has nothing to wait for in a new session', async () => {
    const rig = await openRig()
    const first = await rig.session.followUp('the first', { requires: 'success' })
    expect(first.receipt.result).toBe('applied')
    ;(await rig.model.next()).text('done')
    expect((await first.outcome()).status).toBe('completed')
    await checkAll(rig)
  })

  it('depends on the replacement in the slot when nothing is queued', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('the first')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    const second = await rig.session.supersede('the second')
    const third = await rig.session.followUp('the third', { requires: 'success' })
    expect((await rig.session.queue()).at(-1)).toMatchObject({ id: third.id, predecessor: second.id })
    const newer = await rig.session.supersede('the newer')
    expect((await rig.session.queue()).map((task) => [task.id, task.state])).toEqual([
      [newer.id, 'queued'],
      [third.id, 'blocked'],
    ])
    call.acknowledges()
    ;(await rig.model.next()).text('done')
    expect((await newer.outcome()).status).toBe('completed')
    await checkAll(rig)
  })

  it('is unblocked before anything went wrong', async () => {
    const rig = await openRig()
    await rig.session.start('the first')
    const second = await rig.session.followUp('the second', { requires: 'success' })
    expect((await rig.session.unblock(second.id)).result).toBe('applied')
    await rig.model.next()
    await rig.session.cancel()
    ;(await rig.model.next()).text('done')
    expect((await second.outcome()).status).toBe('completed')
    await checkAll(rig)
  })
})

describe('replace', () => {
  it('keeps id and place, has new words, and no requirement', async () => {
    const rig = await openRig()
    const first = await rig.session.start('the first')
    const second = await rig.session.followUp('the second', { requires: 'success' })
    const third = await rig.session.followUp('the third')
    ;(await rig.model.next()).text('an answer that the replacement may see')
    await first.outcome()
    const running = await rig.model.next()
    expect((await refusal(rig.session.replace(second.id, 'better'))).code).toBe('INVALID_TRANSITION')
    expect(await rig.session.replace(third.id, 'the better third')).toMatchObject({ result: 'applied', task: third.id })
    running.text('second done')
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toBe('the better third')
    expect(request.request.messages.some((message) => message.content === 'the third')).toBe(false)
    request.text('third done')
    expect((await third.outcome()).status).toBe('completed')
    await checkAll(rig)
  })

  it('unblocks a blocked one, which starts at once', async () => {
    const rig = await openRig()
    await rig.session.start('the first')
    const second = await rig.session.followUp('the second', { requires: 'success' })
    await rig.session.cancel()
    await rig.session.replace(second.id, 'the other second')
    await rig.model.next()
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toBe('the other second')
    expect((await rig.steps()).at(-1)).toMatch(
      /^task\.(unblocked|input_replaced) T2 · task\.(unblocked|input_replaced) T2 · task\.started T2/,
    )
    request.text('done')
    expect((await second.outcome()).status).toBe('completed')
    await checkAll(rig)
  })

  it('is used after a restart with its new words', async () => {
    const rig = await openRig()
    await rig.session.start('the first')
    const second = await rig.session.followUp('the second')
    await rig.session.replace(second.id, 'the other second')
    await rig.crashAndReopen()
    await rig.model.next()
    ;(await rig.model.next()).text('first done')
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toBe('the other second')
    await checkAll(rig)
  })

  it('and unblock are refused for what is not there or not pending', async () => {
    const rig = await openRig()
    const first = await rig.session.start('the first')
    for (const command of [rig.session.unblock(first.id), rig.session.replace(first.id, 'x')])
      expect((await refusal(command)).code).toBe('INVALID_TRANSITION')
    for (const command of [rig.session.unblock('01ARZ3NDEKTSV4RRFFQ69G5FAV'), rig.session.replace('nobody', 'x')])
      expect((await refusal(command)).code).toBe('NOT_FOUND')
    await checkAll(rig)
  })
})
