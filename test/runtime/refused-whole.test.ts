import { expect, it } from 'vitest'
import { ModelError } from '../../src/facts/ports.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { checkLog } from '../../src/testing/check-log.ts'

const scope = { tenant: 't', user: 'u', session: 's' }
const secret = 'AKIAIOSFODNN7EXAMPLE'

it('leaves nothing of a command whose facts are too large to store', async () => {
  const log = memoryLog()
  const runtime = await openRuntime({ log, model: scriptedModel({ name: 'm', everyTurn: [{ text: 'ok' }] }) })
  const session = runtime.session(scope)
  await (await session.start('first')).outcome()
  const large = { settings: { note: 'word '.repeat(20_000) } }
  for (const refused of [session.start('x', large), session.followUp('x', large), session.supersede('x', large)])
    await expect(refused).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', details: { which: 'factBytes' } })
  expect((await session.tasks()).map((task) => task.state)).toEqual(['terminal'])
  expect((await (await session.start('later')).outcome()).status).toBe('completed')
  await runtime.close()
  expect(checkLog(await session.log()).violations).toEqual([])
})

it.each([
  ['c'.repeat(70_000), 'MODEL_FAILED'],
  // An error of which the code is no text has not the form of a model's error at all.
  [500, 'MODEL_INVALID_RESPONSE'],
  [secret, 'MODEL_FAILED'],
])('takes no code of a model that is no code: %s', async (code, recorded) => {
  const error = Object.assign(new ModelError({ code: 'X', retryable: false }), { code })
  const model = {
    name: 'm',
    async *request(): AsyncGenerator<never> {
      yield* []
      throw error
    },
  }
  const runtime = await openRuntime({ log: memoryLog(), model })
  const session = runtime.session(scope)
  expect(await (await session.start('x')).outcome()).toMatchObject({ status: 'failed', code: recorded })
  expect(JSON.stringify(await session.log())).not.toContain(secret)
  await runtime.close()
})

it('takes no unknown word for a confirmation, and leaves the pause open', async () => {
  const runtime = await openRuntime({
    log: memoryLog(),
    model: scriptedModel({ name: 'm', everyTurn: [{ text: 'ok' }] }),
  })
  const session = runtime.session(scope)
  await (await session.start('x')).outcome()
  await expect(session.confirm('token', 'maybe' as 'allow')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await runtime.close()
})

it('settles who waits for an outcome when the runtime closes', async () => {
  const model = scriptedModel({ name: 'm', everyTurn: [{ hang: true }] })
  const runtime = await openRuntime({ log: memoryLog(), model, limits: { graceMs: 50 } })
  const handle = await runtime.session(scope).start('x')
  const waiting = expect(handle.outcome()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
  await runtime.close()
  await waiting
})
