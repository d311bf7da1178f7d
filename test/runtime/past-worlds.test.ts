import { describe, expect, it, vi } from 'vitest'
import type { Log } from '../../src/facts/log-port.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { loadWorld } from '../../src/runtime/load-world.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { PastWorlds } from '../../src/runtime/past-worlds.ts'
import { stateOf } from '../../src/runtime/state-view.ts'

const scope = { tenant: 't', user: 'u', session: 's' }

/** A log of some turns, that tells how many steps were read from it. */
async function longLog(atLeast: number): Promise<{ log: Log; last: number; read: () => number }> {
  const inner = memoryLog()
  const runtime = await openRuntime({
    log: inner,
    model: scriptedModel({ everyTurn: [{ text: 'You said {{input}}' }] }),
  })
  const session = runtime.session(scope)
  let last = 0
  while (last < atLeast) {
    await (await session.start(`after ${last}`)).outcome()
    last = (await session.state()).seq
  }
  await runtime.close()
  let steps = 0
  const log = new Proxy(inner, {
    get: (target, name) => {
      if (name !== 'read') return Reflect.get(target, name).bind(target)
      return async (...given: Parameters<Log['read']>) => {
        const found = await target.read(...given)
        steps += found.length
        return found
      }
    },
  })
  return {
    log,
    last,
    read: () => {
      const told = steps
      steps = 0
      return told
    },
  }
}

vi.setConfig({ testTimeout: 60_000 })

describe('states of the past', () => {
  it('are what folding from the beginning gives, at every fact, in any order, within a small bound or none', async () => {
    const { log, last } = await longLog(150)
    const places = [undefined, 0, 200_000].map((bound) => new PastWorlds(log, bound))
    const back = Array.from({ length: last }, (_, index) => last - index)
    const jumps = back.map((seq) => ((seq * 37) % last) + 1)
    for (const seq of [...back, ...jumps]) {
      const { world, ...told } = await loadWorld(log, scope, seq)
      for (const past of places) {
        const { world: found, ...rest } = await past.load(scope, seq)
        expect(rest).toEqual(told)
        expect(stateOf(found)).toEqual(stateOf(world))
      }
    }
  })

  it('are folded from nearby, however long the session is: a step back reads no more of a long log', async () => {
    for (const length of [200, 800]) {
      const { log, last, read } = await longLog(length)
      const past = new PastWorlds(log)
      await past.load(scope, last)
      read()
      for (let seq = last - 1; seq > last - 100; seq -= 1) {
        await past.load(scope, seq)
        expect(read()).toBeLessThanOrEqual(70)
      }
    }
  })

  it('keep sessions and users apart', async () => {
    const { log, last } = await longLog(100)
    const past = new PastWorlds(log)
    await past.load(scope, last)
    for (const other of [
      { ...scope, user: 'v' },
      { ...scope, session: 'x' },
    ])
      expect((await past.load(other, last)).world.seq).toBe(0)
  })
})
