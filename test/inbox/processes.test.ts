import { describe, expect, it } from 'vitest'
import type { Log } from '../../src/facts/log-port.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import { tempFile } from '../log/temp-store.ts'
import { refusal } from '../runtime/kit/check.ts'
import { startOwner } from './kit/start-owner.ts'
import { runtimesOn, scope, until } from './kit/two-runtimes.ts'

const at = '2026-01-01T00:00:00.000Z'

async function put(log: Log, id: string, name: string, body: object): Promise<void> {
  await log.putInbox(scope, { id, name, body: JSON.stringify(body), at })
}

describe('a session that another process owns', { timeout: 60_000 }, () => {
  it('takes commands through the store, and refuses through it', async () => {
    const file = tempFile()
    const owner = await startOwner(file, 'active')
    const sender = await runtimesOn(() => sqliteLog(file))()
    const session = sender.session(scope)
    for (const at of [1, 2, 3]) {
      const receipt = await session.steer(`steer ${at}`, { commandId: `c-${at}` })
      expect([receipt.result, receipt.task]).toEqual(['queued', owner.task])
    }
    expect(await session.steer('steer 2', { commandId: 'c-2' })).toMatchObject({
      result: 'duplicate',
      task: owner.task,
    })
    expect(await refusal(session.start('another'))).toMatchObject({
      code: 'SESSION_BUSY',
      details: { task: owner.task },
    })
    await session.cancel()
    expect((await session.task(owner.task).outcome()).status).toBe('cancelled')
    const facts = await session.log()
    expect(new Set(facts.map((fact) => fact.owner.epoch)).size).toBe(1)
    expect(facts.filter((fact) => fact.type === 'steering.queued').length).toBe(3)
    expect(checkLog(facts).violations).toEqual([])
  })

  it('that dies with commands waiting leaves them to the one that sent them: each once, in order', async () => {
    const file = tempFile()
    const owner = await startOwner(file, 'active')
    const sender = await runtimesOn(() => sqliteLog(file))()
    const session = sender.session(scope)
    await session.steer('before', { commandId: 'c-0' })
    owner.freeze()
    const log = sqliteLog(file)
    const names = ['c-1', 'c-2', 'c-3']
    const waiting = names.map((commandId) => session.steer(`about ${commandId}`, { commandId }))
    await until(async () => (await log.inbox(scope, 10)).length === 3, 'the commands wait')
    expect((await session.log()).filter((fact) => fact.type === 'steering.queued').length).toBe(1)
    await owner.kill()
    const receipts = await Promise.all(waiting)
    expect(receipts.map((receipt) => [receipt.result, receipt.task])).toEqual(names.map(() => ['queued', owner.task]))
    const facts = await session.log()
    const accepted = facts.filter((fact) => fact.type === 'command.accepted')
    expect(accepted.map((fact) => fact.data.command)).toEqual(['c-0', ...names])
    expect(await log.inbox(scope, 10)).toEqual([])
    expect(checkLog(facts).violations).toEqual([])
    await log.close()
  })

  it.each(['active', 'idle'] as const)(
    'that dies, and its sender too, leaves them to whoever opens the store next (%s)',
    async (turn) => {
      const file = tempFile()
      const owner = await startOwner(file, turn)
      owner.freeze()
      const log = sqliteLog(file)
      await put(log, 'c-1', 'followUp', { input: 'one', requires: 'none' })
      await put(log, 'c-2', 'followUp', { input: 'two', requires: 'none' })
      await put(log, 'c-3', 'unblock', { task: 'no-such-task' })
      await put(log, 'c-4', 'no-such-command', {})
      await put(log, 'c-5', 'followUp', { requires: 'none' })
      await owner.kill()
      const next = await runtimesOn(() => sqliteLog(file))()
      await until(async () => (await log.inbox(scope, 10)).length === 0, 'the commands are carried out')
      const facts = await next.session(scope).log()
      const accepted = facts.filter((fact) => fact.type === 'command.accepted')
      expect(accepted.map((fact) => fact.data.command)).toEqual(['c-1', 'c-2'])
      expect(JSON.parse((await log.inboxAnswer(scope, 'c-1')) ?? '')).toMatchObject({ receipt: { command: 'c-1' } })
      const codes = await Promise.all(
        ['c-3', 'c-4', 'c-5'].map(async (id) => JSON.parse((await log.inboxAnswer(scope, id)) ?? '').error.code),
      )
      expect(codes).toEqual(['NOT_FOUND', 'INVALID_INPUT', 'INVALID_INPUT'])
      expect(checkLog(facts).violations).toEqual([])
      await log.close()
    },
  )

  it('that dies is taken over by a process that was there all along', async () => {
    const file = tempFile()
    const owner = await startOwner(file, 'active')
    const beside = await runtimesOn(() => sqliteLog(file))({ limits: { graceMs: 0, leaseMs: 600 } })
    owner.freeze()
    const log = sqliteLog(file)
    await put(log, 'c-1', 'steer', { input: 'left', mode: 'boundary' })
    await owner.kill()
    await until(async () => (await log.inboxAnswer(scope, 'c-1')) !== null, 'the command is carried out')
    const facts = await beside.session(scope).log()
    expect(facts.filter((fact) => fact.type === 'run.resumed').length).toBe(1)
    expect(checkLog(facts).violations).toEqual([])
    await log.close()
  })
})
