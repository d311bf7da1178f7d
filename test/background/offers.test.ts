import { expect, it } from 'vitest'
import { checkAll } from '../runtime/kit/check.ts'
import type { HeldRequest } from '../runtime/kit/held-model.ts'
import { asked, factsOf, openJobs, told, turnWith } from './kit.ts'

const notes = ({ request }: HeldRequest) =>
  request.messages.filter(({ role }) => role === 'system').map(({ content }) => content)

it('a background task that ends after its parent is offered to the next turn, once, also over a restart', async () => {
  const rig = await openJobs()
  const { id } = await turnWith(rig, ['quick'], ['slow'], ['below', 'slow'])
  ;(await asked(rig, 'quick')).text('ended in time')
  await rig.time.settle()
  ;(await asked(rig, 'the turn')).text('done')
  await rig.time.settle()
  ;(await asked(rig, 'slow')).text('ended late')
  await rig.time.settle()
  await rig.session.cancel({ task: id('below') })
  await rig.crashAndReopen()
  const next = await rig.session.start('the next')
  const heard = notes(await asked(rig, 'the next'))
  expect(heard.length).toBe(2)
  expect(heard[0]).toContain(`{"task":"${id('slow')}","status":"completed","result":"ended late"}`)
  expect(heard[1]).toContain(`{"task":"${id('below')}","status":"cancelled"}`)
  const offered = await factsOf(rig, 'result.offered')
  expect(offered.map(({ task, data }) => [task, data.from])).toEqual([
    [next.id, id('slow')],
    [next.id, id('below')],
  ])
  const messages = await rig.session.messages()
  for (const { data } of offered)
    expect(messages.find(({ id: message }) => message === data.message)?.role).toBe('system')
  ;(await asked(rig, 'the next')).text('noted')
  await rig.time.settle()
  await rig.session.start('the last')
  expect(notes(await asked(rig, 'the last'))).toEqual(heard)
  expect((await factsOf(rig, 'result.offered')).length).toBe(2)
  await rig.session.cancel()
  await checkAll(rig)
})

it('what an ancestor has waited for, and what has no parent, is offered to nobody', async () => {
  const rig = await openJobs()
  const { id } = await turnWith(rig, ['a'], ['below', 'a'])
  await rig.session.spawn('without a parent')
  ;(await asked(rig, 'a')).text('a done')
  ;(await asked(rig, 'the turn')).calls(['task_await', { tasks: [id('below')] }])
  ;(await asked(rig, 'below')).text('below done')
  ;(await asked(rig, 'without a parent')).text('on its own')
  ;(await asked(rig, 'the turn')).text('all heard')
  await rig.time.settle()
  await rig.session.start('the next')
  expect(notes(await asked(rig, 'the next'))).toEqual([])
  await rig.session.cancel()
  await checkAll(rig)
})

it('a large offered result comes by reference, and the turn can read it', async () => {
  const rig = await openJobs()
  await turnWith(rig, ['slow'])
  ;(await asked(rig, 'the turn')).text('done')
  const large = 'word '.repeat(4_000)
  ;(await asked(rig, 'slow')).text(large)
  await rig.time.settle()
  await rig.session.start('the next')
  const request = await asked(rig, 'the next')
  const [note = ''] = notes(request)
  const { observation, bytes } = JSON.parse(note.slice(note.indexOf('{'))) as { observation: string; bytes: number }
  expect(bytes).toBe(large.length)
  expect(note.length).toBeLessThan(1_000)
  request.calls(['observation_read', { observation, offset: 5, length: 5 }])
  expect(told(await asked(rig, 'the next'))).toMatchObject({ text: 'word ', size: bytes })
  await rig.session.cancel()
  await checkAll(rig)
})
