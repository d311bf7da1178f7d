import { expect, it } from 'vitest'
import type { ToolProgress } from '../../src/capabilities/define-tool.ts'
import { checkAll, refusal } from '../runtime/kit/check.ts'
import { asked, factsOf, openJobs } from './kit.ts'

it("progress of a background task's tool is one fact in a while, the newest; the view shows it while the task lives", async () => {
  const rig = await openJobs()
  const job = await rig.session.spawn('job')
  ;(await asked(rig, 'job')).calls(['look'])
  const call = await rig.tool('look').next()
  call.context.progress({ fraction: 0.1, phase: 'reading' })
  for (let at = 20; at < 60; at += 1) call.context.progress({ fraction: at / 100 })
  await rig.time.settle()
  expect((await factsOf(rig, 'task.progress')).map(({ data }) => data.fraction)).toEqual([0.1])
  await rig.time.advance(1_000)
  call.context.progress({ fraction: 0.9, note: 'almost', phase: 'writing' })
  await rig.time.advance(1_000)
  const facts = await factsOf(rig, 'task.progress')
  expect(facts.map(({ data }) => data)).toEqual([
    { fraction: 0.1, phase: 'reading' },
    { fraction: 0.59 },
    { fraction: 0.9, phase: 'writing', note: 'almost' },
  ])
  expect(facts.map(({ task, by }) => [task, by])).toEqual(facts.map(() => [job.id, { kind: 'capability', id: 'look' }]))
  expect((await rig.session.tasks())[0]?.progress).toEqual({ fraction: 0.9, phase: 'writing', note: 'almost' })
  call.returns('seen')
  ;(await asked(rig, 'job')).text('done')
  await job.outcome()
  expect((await rig.session.tasks())[0]?.progress).toBeUndefined()
  await checkAll(rig)
})

it('progress after the end, in a barrier and of a turn leaves no fact; secrets are taken out of it', async () => {
  const rig = await openJobs()
  const job = await rig.session.spawn('job')
  ;(await asked(rig, 'job')).calls(['look'])
  const call = await rig.tool('look').next()
  call.context.progress({ fraction: 0.2, note: 'with api_key=sk-live-a1b2c3d4a1b2c3d4a1b2c3d4' })
  await rig.time.advance(1_000)
  expect(JSON.stringify(await rig.facts())).not.toContain('a1b2c3d4')
  await rig.session.cancel({ task: job.id })
  call.context.progress({ fraction: 0.3 })
  await rig.time.advance(10_001)
  call.context.progress({ fraction: 0.4 })
  await rig.time.advance(10_001)
  await rig.session.start('the turn')
  ;(await asked(rig, 'the turn')).calls(['look'])
  ;(await rig.tool('look').next()).context.progress({ fraction: 0.5 })
  await rig.time.advance(1_000)
  expect((await factsOf(rig, 'task.progress')).map(({ data }) => data.fraction)).toEqual([0.2])
  await rig.session.cancel()
  await rig.time.advance(10_001)
  await checkAll(rig)
})

it('progress that is none is told to the tool', async () => {
  const rig = await openJobs()
  await rig.session.spawn('job')
  ;(await asked(rig, 'job')).calls(['look'])
  const call = await rig.tool('look').next()
  const wrong = [{ fraction: 2 }, { fraction: Number.NaN }, { fraction: 0.5, note: 7 }, undefined]
  for (const given of wrong)
    expect(await refusal(() => call.context.progress(given as ToolProgress))).toMatchObject({ code: 'INVALID_INPUT' })
  await rig.session.close({ cancel: true })
  await rig.time.advance(10_001)
  expect(await factsOf(rig, 'task.progress')).toEqual([])
})
