import { expect, it, onTestFinished, vi } from 'vitest'
import { createActor, createMachine } from 'xstate'
import { type StatelyMessage, statelyMessages } from '../../src/xstate/public.ts'
import { runtimeWith, scope } from './kit.ts'

const secret = `sk-ant-api03-${'A1b2C3d4'.repeat(6)}`

it('hold nothing that an operator wrote, and no credential', async () => {
  const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
  const { actor } = runtime.session(scope)
  const messages: StatelyMessage[] = []
  statelyMessages(runtime.actor, (message) => messages.push(message))
  const answered = new Promise((resolve) => actor.on('command.accepted', resolve))
  actor.send({ type: 'start', input: 'A quiet wish.', system: 'Whisper.', commandId: 'c1' })
  actor.send({ type: 'cancel', reason: `because of ${secret}` })
  actor.send({ type: 'resume', token: 'opaque-words', decision: 'approve', input: 'A quiet answer.' })
  actor.send({ type: 'confirm', confirmation: 'opaque-words', decision: 'allow' })
  await answered
  const events = messages.flatMap((each) => (each.type === '@xstate.event' ? [each.event] : []))
  expect(events).toContainEqual({ type: 'start', commandId: 'c1' })
  expect(events).toContainEqual({ type: 'resume', decision: 'approve' })
  const text = JSON.stringify(messages)
  for (const word of ['quiet', 'Whisper', 'opaque-words', 'sk-ant']) expect(text).not.toContain(word)
})

it('of a host hold what the host does, without credentials', () => {
  const messages: StatelyMessage[] = []
  const host = createActor(createMachine({ context: { key: secret }, on: { SAY: {} } })).start()
  statelyMessages(host, (message) => messages.push(message))
  host.send({ type: 'SAY', input: `Take ${secret}.` } as { type: 'SAY' })
  const text = JSON.stringify(messages.filter((each) => each.type !== '@xstate.actor' || each.snapshot))
  expect(text).toContain('Take ')
  expect(text.replace(/"definition":"(?:[^"\\]|\\.)*"/g, '')).not.toContain(secret)
})

it('withhold what has no JSON form, and disturb nobody with it', async () => {
  const runtime = await runtimeWith({ everyTurn: [{ text: 'Hello.' }] })
  const { actor } = runtime.session(scope)
  const messages: StatelyMessage[] = []
  statelyMessages(runtime.actor, (message) => messages.push(message))
  const refused: string[] = []
  const both = new Promise<void>((resolve) => {
    actor.on('command.refused', ({ command, code }) => {
      if (refused.push(`${command} ${code}`) === 2) resolve()
    })
  })
  const circle: Record<string, unknown> = { type: 'steer', input: 'x' }
  circle.circle = circle
  actor.send(circle as { type: 'steer'; input: string })
  actor.send({ type: 'pause', count: 1n } as { type: 'pause' })
  await both
  expect(refused).toHaveLength(2)
  const events = messages.flatMap((each) => (each.type === '@xstate.event' ? [each.event] : []))
  expect(events).toContainEqual({ type: 'steer', withheld: true })
  expect(events).toContainEqual({ type: 'pause', withheld: true })

  const odd = createActor(createMachine({ id: 'odd', context: { count: 1n } })).start()
  const told: StatelyMessage[] = []
  statelyMessages(odd, (message) => told.push(message))
  expect(told).toMatchObject([{ type: '@xstate.actor', name: odd.id, snapshot: { status: 'active', withheld: true } }])
})

it('a receiver that throws is told nothing more, and its error is nobody else’s', async () => {
  const later = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => {})
  onTestFinished(() => later.mockRestore())
  const host = createActor(createMachine({ on: { GO: {} } })).start()
  let told = 0
  statelyMessages(host, () => {
    told += 1
    if (told === 2) throw new Error('the socket is closed')
  })
  host.send({ type: 'GO' })
  host.send({ type: 'GO' })
  expect(told).toBe(2)
  expect(host.getSnapshot().status).toBe('active')
  const [[report] = []] = later.mock.calls.filter(([each]) => each.toString().includes('throw'))
  expect(report).toThrow('the socket is closed')
})
