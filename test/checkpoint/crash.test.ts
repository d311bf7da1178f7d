import { describe, expect, it, vi } from 'vitest'
import type { Log } from '../../src/facts/log-port.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import type { Checkpoint } from '../../src/runtime/checkpoint/checkpoint-schema.ts'
import { openRuntime, type Runtime } from '../../src/runtime/open-runtime.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import { cutLog } from '../recovery/kit/cut-log.ts'
import { refusal } from '../runtime/kit/check.ts'
import { scope } from '../runtime/kit/rig.ts'
import { FakeProcesses } from '../runtime/kit/severable-log.ts'
import { verified } from './kit/elsewhere.ts'

vi.setConfig({ testTimeout: 60_000 })

const model = scriptedModel({ name: 'short', everyTurn: [{ text: 'ok' }] })
/** Few facts a step, so that a restore takes several. */
const limits = { factsPerStep: 24 }

async function taken(): Promise<Checkpoint> {
  const runtime = await openRuntime({ log: memoryLog(), model, limits })
  const session = runtime.session(scope)
  for (let turn = 0; turn < 30; turn += 1) await (await session.start(`turn ${turn}`)).outcome()
  await session.memory.put('plan', 'tea')
  const checkpoint = await session.checkpoint()
  await runtime.close()
  return checkpoint
}

const open = (log: Log): Promise<Runtime> => openRuntime({ log, model, limits })

/** Restores until the process dies at its cut, if it does. */
async function restoredWithCut(
  store: Log,
  checkpoint: Checkpoint,
  cut: { write: number; when: 'before' | 'after' } | null,
) {
  const process = cutLog(store, processes, cut)
  const runtime = await open(process.log)
  const done = runtime.restore(checkpoint).then(() => 'restored')
  const ended = await Promise.race([done, process.died.then(() => 'died')])
  if (ended === 'restored') process.kill()
  return { ended, writes: process.writes() }
}

const processes = new FakeProcesses()

describe('a process that dies at any write of a restore', () => {
  it('leaves a session that takes nothing but the same restore, which then ends as if nothing had been', async () => {
    const checkpoint = await taken()
    const whole = memoryLog({ processes })
    const { writes } = await restoredWithCut(whole, checkpoint, null)
    const expected = await finished(whole)
    expect(expected.steps).toBeGreaterThan(2)
    expect(writes).toBeGreaterThan(3)
    const states = new Set<string>()
    for (let write = 1; write <= writes; write += 1)
      for (const when of ['before', 'after'] as const) {
        const store = memoryLog({ processes })
        expect((await restoredWithCut(store, checkpoint, { write, when })).ended).toBe('died')
        const runtime = await open(store)
        const session = runtime.session(scope)
        const state = (await session.log()).length === 0 ? 'none' : await stateOf(session)
        states.add(state)
        if (state === 'half') await checkHalf(runtime, checkpoint)
        if (state === 'whole')
          expect(await refusal(runtime.restore(checkpoint))).toMatchObject({ code: 'CONTEXT_FIXED' })
        else await runtime.restore(JSON.parse(JSON.stringify(checkpoint)))
        await runtime.close()
        expect(await finished(store)).toEqual(expected)
      }
    expect([...states].sort()).toEqual(['half', 'none', 'whole'])
  })
})

type Handle = ReturnType<Runtime['session']>

async function stateOf(session: Handle): Promise<'half' | 'whole'> {
  const types = (await session.log()).map(({ type }) => type)
  return types.includes('session.restored') ? 'whole' : 'half'
}

/** Nothing but the restore that began here is accepted, and whoever tries changes nothing. */
async function checkHalf(runtime: Runtime, checkpoint: Checkpoint): Promise<void> {
  const session = runtime.session(scope)
  const before = await session.log()
  for (const command of [
    () => session.start('hello'),
    () => session.followUp('hello'),
    () => session.supersede('hello'),
    () => session.memory.put('k', 1),
    () => session.memory.remove('plan'),
    () => session.acknowledge('all'),
    () => session.close(),
    () => session.erase(),
    () => session.checkpoint(),
  ])
    expect(await refusal(command())).toMatchObject({ code: 'SESSION_RESTORING' })
  const other = { ...(await taken()) }
  expect(await refusal(runtime.restore(other))).toMatchObject({ code: 'CONTEXT_FIXED' })
  expect(checkpoint.digest).not.toBe(other.digest)
  expect(await session.log()).toEqual(before)
}

/** What the session is in the end: what it shows, remembers and asks next. */
async function finished(store: Log) {
  const runtime = await open(store)
  const session = runtime.session(scope)
  const restored = await session.log()
  expect(checkLog(restored).violations).toEqual([])
  await (await session.start('and now?')).outcome()
  const seq = (await session.log()).findLast(({ type }) => type === 'model.requested')?.seq ?? 0
  const request = await session.request({ seq })
  const result = {
    steps: restored.at(-1)?.step ?? 0,
    count: restored.length,
    types: restored.map(({ type }) => type),
    memory: await session.memory.get('plan'),
    request,
  }
  await runtime.close()
  await verified(store)
  return result
}
