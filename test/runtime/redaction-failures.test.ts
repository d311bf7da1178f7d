import { expect, it } from 'vitest'
import type { StoredFact } from '../../src/facts/envelope.ts'
import { ModelError, type Redactor } from '../../src/facts/ports.ts'
import { checkAll, refusal } from './kit/check.ts'
import { openRig, scope } from './kit/rig.ts'

/** INV-12: a redactor that fails on some texts, as one with a faulty pattern would. The text itself goes nowhere. */
const failing: Redactor = {
  name: 'failing',
  text: (text) => {
    if (text.includes('kryptonite')) throw new Error('cannot read kryptonite')
    return text
  },
  value: (value) => {
    if (JSON.stringify(value).includes('kryptonite')) throw new Error('cannot read kryptonite')
    return value
  },
}

function audits(facts: readonly StoredFact[]): string[] {
  return facts.flatMap((fact, at) => {
    if (fact.type !== 'audit.redaction_failed') return []
    const before = facts[at - 1]
    const place = before?.step === fact.step ? `behind ${before.type}` : 'in a step of its own'
    return [`${fact.data.type} ${fact.data.field} ${place}${fact.task === null ? '' : ' of the task'}`]
  })
}

const holdsNone = (value: unknown): void => expect(JSON.stringify(value)).not.toContain('kryptonite')

it('INV-12: a reason that cannot be redacted is withheld, and each fact in which it is missing says so', async () => {
  const rig = await openRig({ redactor: failing })
  const handle = await rig.session.start('go')
  await rig.model.next()
  await rig.session.cancel({ reason: 'because of kryptonite' })
  expect(await handle.outcome()).toMatchObject({ status: 'cancelled', reason: '[withheld]' })
  const facts = await rig.facts()
  expect(audits(facts)).toEqual([
    'task.cancelling reason behind task.cancelling of the task',
    'task.cancelled reason behind task.cancelled',
  ])
  holdsNone(facts)
  await checkAll(rig)
})

it('INV-12: the same for a queued turn, for a close, and for the subject of a pause', async () => {
  const rig = await openRig({ redactor: failing, tools: { order: {} } })
  await rig.session.start('go')
  const queued = await rig.session.followUp('then this')
  await rig.session.cancel({ task: queued.id, reason: 'kryptonite' })
  ;(await rig.model.next()).calls(['order'])
  const call = await rig.tool('order').next()
  call.context.pause({ reason: 'input', subject: 'which kryptonite?' }).catch((signal) => call.throws(signal))
  await rig.time.settle()
  await rig.session.close({ cancel: true, reason: 'too much kryptonite' })
  const facts = await rig.facts()
  expect(audits(facts)).toEqual([
    'task.cancelled reason behind task.cancelled',
    'pause.requested subject behind pause.requested of the task',
    'session.closing reason behind session.closing',
  ])
  holdsNone(facts)
  await checkAll(rig)
})

it('INV-12: the error of a tool and of a model, code and sentence', async () => {
  const rig = await openRig({ redactor: failing, tools: { look: { effect: 'read' } } })
  const handle = await rig.session.start('go')
  ;(await rig.model.next()).calls(['look'], ['look', { id: 'b' }])
  const [first, second] = [await rig.tool('look').next(), await rig.tool('look').next()]
  first.throws(Object.assign(new Error('the kryptonite is out'), { code: 'kryptonite' }))
  second.throws(new Error('no such thing'))
  const request = await rig.model.next()
  expect(request.request.messages.slice(-2).map(({ content }) => content)).toEqual([
    '{"error":{"code":"TOOL_FAILED"}}',
    '{"error":{"code":"TOOL_FAILED","message":"no such thing"}}',
  ])
  request.throws(new ModelError({ code: 'kryptonite', retryable: false, reason: 'ask for kryptonite' }))
  expect(await handle.outcome()).toMatchObject({ status: 'failed', code: 'MODEL_FAILED' })
  const facts = await rig.facts()
  expect(audits(facts)).toEqual([
    'call.finished code behind call.finished of the task',
    'call.finished message behind audit.redaction_failed of the task',
    'model.failed reason behind model.failed of the task',
    'model.failed code behind audit.redaction_failed of the task',
    'task.failed reason behind task.failed',
  ])
  holdsNone(facts)
  await checkAll(rig)
})

it('INV-12: words of a model and notes of a tool: nothing is shown, the turn goes on, and it is told once', async () => {
  const rig = await openRig({ redactor: failing, tools: { look: { effect: 'read' } } })
  const heard: object[] = []
  const listening = rig.runtime.events(scope, { ephemeral: true }).subscribe((event) => heard.push(event))
  const handle = await rig.session.start('go')
  const request = await rig.model.next()
  request.send({ type: 'text', text: 'It is ' }, { type: 'text', text: 'kryptonite, ' })
  await rig.time.settle()
  request.send({ type: 'text', text: 'and kryptonite again. ' }, { type: 'call', name: 'look', arguments: {} })
  request.send({ type: 'finish', reason: 'calls', usage: { input: 1, output: 1 } })
  request.end()
  const call = await rig.tool('look').next()
  call.context.progress('looking')
  call.context.progress('found kryptonite')
  call.context.progress('more kryptonite')
  await rig.time.settle()
  call.returns('seen')
  ;(await rig.model.next()).text('good')
  expect((await handle.outcome()).status).toBe('completed')
  listening.unsubscribe()
  const facts = await rig.facts()
  expect(audits(facts)).toEqual([
    'model.delta text in a step of its own of the task',
    'call.progress note in a step of its own of the task',
  ])
  holdsNone(heard)
  holdsNone(facts)
  expect(heard).toContainEqual(expect.objectContaining({ type: 'call.progress', note: 'looking' }))
  expect(heard).toContainEqual(expect.objectContaining({ type: 'call.progress', note: '[withheld]' }))
  await checkAll(rig)
})

it('INV-12: an answer that names a tool which cannot be redacted fails, and says why', async () => {
  const rig = await openRig({ redactor: failing, tools: { look: { effect: 'read' } } })
  const handle = await rig.session.start('go')
  ;(await rig.model.next()).calls(['kryptonite'])
  expect((await handle.outcome()).status).toBe('failed')
  const facts = await rig.facts()
  expect(audits(facts)).toContain('model.failed calls behind model.failed of the task')
  holdsNone(facts)
  await checkAll(rig)
})

it('INV-12: a command id that cannot be redacted is refused before anything is written', async () => {
  const rig = await openRig({ redactor: failing })
  expect(await refusal(rig.session.start('go', { commandId: 'kryptonite' }))).toMatchObject({ code: 'INVALID_INPUT' })
  expect(await rig.facts()).toEqual([])
})
