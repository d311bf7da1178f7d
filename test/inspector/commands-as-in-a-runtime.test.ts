import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { waitFor } from 'xstate'
import type { Receipt, Session } from '../../src/index.ts'
import { simulate } from '../../src/inspector/simulator/simulate.ts'
import { askTool, gate, heldTool, runtimeWith, scope } from '../xstate/kit.ts'
import { chartOf, commandOf, newest, play } from './play-chart.ts'

/** Commands of the session chart as an operator sends them. */
const sent: Readonly<Record<string, (session: Session) => Promise<Receipt>>> = {
  start: async (session) => (await session.start('x')).receipt,
  followUp: async (session) => (await session.followUp('x')).receipt,
  'followUp (requires success)': async (session) => (await session.followUp('x', { requires: 'success' })).receipt,
  supersede: async (session) => (await session.supersede('x')).receipt,
  spawn: async (session) => (await session.spawn('x', { propagate: 'isolate' })).receipt,
  'cancel (the turn)': (session) => session.cancel(),
  'acknowledge (all)': (session) => session.acknowledge('all'),
  close: (session) => session.close(),
  'close (cancel what runs)': (session) => session.close({ cancel: true }),
  erase: (session) => session.erase(),
  'erase (cancel what runs)': (session) => session.erase({ cancel: true }),
  reopen: (session) => session.reopen(),
}

const answered = (answer: Promise<Receipt>) =>
  answer.then(
    ({ result }) => ({ result, code: null as string | null }),
    ({ code }: { code: string }) => ({ result: 'refused' as string, code }),
  )

it('a conversation of commands is answered as by a runtime whose model says nothing', async () => {
  const model = { everyTurn: [{ hang: true as const }], background: [{ hang: true as const }] }
  const commands = fc.array(fc.constantFrom(...Object.keys(sent)), { minLength: 1, maxLength: 8 })
  const { commands: all } = simulate(chartOf('session'), { events: [] })
  const offered = new Map(all.map(({ label, command }) => [label, commandOf(command)]))
  let session = 0
  const runtime = await runtimeWith(model)
  await fc.assert(
    fc.asyncProperty(commands, async (labels) => {
      session += 1
      const real = runtime.session({ ...scope, session: `talk-${session}` })
      await real.memory.put('opened', true)
      const answers = []
      for (const label of labels) answers.push(await answered(sent[label]?.(real) as Promise<Receipt>))
      const { steps } = simulate(chartOf('session'), { events: labels.flatMap((label) => offered.get(label) ?? []) })
      expect(steps.slice(1).map(({ receipt }) => ({ result: receipt?.result, code: receipt?.code }))).toEqual(answers)
      const { session: chart } = await real.state()
      expect(steps.at(-1)?.value).toEqual(chart.value)
    }),
    { seed: 20, numRuns: 60 },
  )
})

/** Commands of the task chart to the turn that runs. */
const sentToTurn: Readonly<Record<string, (session: Session, task: string) => Promise<Receipt>>> = {
  steer: (session) => session.steer('x'),
  'steer (interrupts)': (session) => session.steer('x', { mode: 'interrupt' }),
  cancel: (session, task) => session.cancel({ task }),
  pause: (session) => session.pause(),
  'resume (operator, resume)': async (session) =>
    session.resume((await session.pauses())[0]?.token ?? '', { decision: 'resume' }),
  'resume (operator, reject)': async (session) =>
    session.resume((await session.pauses())[0]?.token ?? '', { decision: 'reject' }),
  'spawn (below it)': async (session, parent) => (await session.spawn('x', { parent, propagate: 'cascade' })).receipt,
}

it('what is said to a turn that waits for its model is answered as by a runtime', async () => {
  const model = { everyTurn: [{ hang: true as const }], background: [{ hang: true as const }] }
  const labels = fc.array(fc.constantFrom(...Object.keys(sentToTurn)), { minLength: 1, maxLength: 7 })
  let session = 0
  const runtime = await runtimeWith(model)
  await fc.assert(
    fc.asyncProperty(labels, async (wanted) => {
      session += 1
      const real = runtime.session({ ...scope, session: `turn-${session}` })
      const { id } = await real.start('x')
      let events = play(chartOf('task'), ['task.started', 'model.requested (the turn)']).steps.flatMap(
        ({ event }) => event ?? [],
      )
      for (const label of wanted) {
        const choice = simulate(chartOf('task'), { events }).commands.find((each) => each.label === label)
        if (choice === undefined) continue
        events = [...events, commandOf(choice.command)]
        const { steps } = simulate(chartOf('task'), { events })
        const { result, code } = steps.at(-1)?.receipt ?? {}
        expect({ result, code }, label).toEqual(await answered(sentToTurn[label]?.(real, id) as Promise<Receipt>))
        const task = (await real.tasks()).find((each) => each.id === id)
        const { value } = steps.at(-1) ?? {}
        expect(JSON.stringify(value), label).toContain(task?.status ?? task?.state)
      }
    }),
    { seed: 5, numRuns: 20 },
  )
})

it.each(Object.keys(sent))('%s is answered as by a runtime while a call is under way', async (label) => {
  const held = gate()
  const runtime = await runtimeWith({ everyTurn: askTool('look') }, { catalog: [heldTool('look', held)] })
  onTestFinished(held.open)
  const session = runtime.session(scope)
  await waitFor((await session.start('first')).actor, (view) => view.matches({ running: 'acting' }))
  const real = await answered(sent[label]?.(session) as Promise<Receipt>)
  const { result, code } = newest(play(chartOf('session'), ['start', label]))?.receipt ?? {}
  // What replaces a turn has a call to wait for there, and only a request here.
  if (label === 'supersede') expect([real.result, result]).toEqual(['queued', 'applied'])
  else expect({ result, code }).toEqual(real)
})
