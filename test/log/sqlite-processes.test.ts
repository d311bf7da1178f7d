import { expect, test } from 'vitest'
import { zeroHash } from '../../src/facts/chain.ts'
import { isStepIntact } from '../../src/facts/codec.ts'
import type { Log } from '../../src/facts/log-port.ts'
import { hostProcesses, thisInstance, unknownStart } from '../../src/facts/processes.ts'
import { claimed, scopeA, scopeB } from '../contract/log-harness.ts'
import { startWriter } from './child-process.ts'
import { openLog, tempFile } from './temp-store.ts'

/** Heads and rows agree, the chains hold, seq has no hole. */
async function assertSound(log: Log): Promise<void> {
  for (const head of await log.heads({ limit: 100 })) {
    const steps = await log.read(head.scope, { limit: 10_000 })
    let [hash, seq] = [zeroHash, 0]
    for (const step of steps) {
      expect([step.prev, step.firstSeq]).toEqual([hash, seq + 1])
      expect(isStepIntact(step)).toBe(true)
      hash = step.hash
      seq += step.count
    }
    expect(head).toMatchObject({ seq, hash, step: steps.length })
  }
}

test('two processes write one file: every step of both is there, in one order', async () => {
  const file = tempFile()
  const log = openLog(file)
  let notices = 0
  log.watch(() => {
    notices += 1
  })
  const child = startWriter(file, 'b', 60)
  await child.reported(1)
  const draft = await claimed(log, scopeA, thisInstance('parent'))
  const mine: number[] = []
  for (let i = 0; i < 60; i += 1) mine.push(await draft.append(log))
  expect(await child.exited).toBe(0)
  const tail = await log.tail(0, 1_000)
  const of = (session: string) => tail.filter((step) => step.scope.session === session).map((step) => step.cursor)
  expect(of('a')).toEqual(mine)
  expect(of('b')).toEqual(child.cursors)
  expect(child.cursors).toHaveLength(60)
  await assertSound(log)
  expect(notices).toBeGreaterThan(0)
}, 30_000)

test('after a kill nothing that was reported is lost, and the session is free at once', async () => {
  const file = tempFile()
  const child = startWriter(file, 'b', 100_000)
  await child.reported(20)
  const log = openLog(file)
  const instance = thisInstance('parent')
  expect(await log.claim(scopeB, instance)).toMatchObject({ claimed: false })
  expect(await log.heads({ orphaned: true, limit: 10 })).toEqual([])
  child.process.kill('SIGKILL')
  await child.exited
  expect((await log.heads({ orphaned: true, limit: 10 })).map((head) => head.scope)).toEqual([scopeB])
  expect(await log.claim(scopeB, instance)).toEqual({ claimed: true, epoch: 2 })
  const stored = (await log.tail(0, 100_000)).map((step) => step.cursor)
  expect(stored).toEqual(expect.arrayContaining(child.cursors))
  // At most the one step whose report was under way is there beyond what was reported.
  expect(stored.length - child.cursors.length).toBeLessThanOrEqual(1)
  await assertSound(log)
}, 30_000)

test('a host knows its own processes by number and start', () => {
  const processes = hostProcesses()
  const own = thisInstance('me', processes)
  expect(own).toMatchObject({ id: 'me', host: processes.host, pid: process.pid })
  expect(processes.startedAt(process.pid)).toBe(own.startedAt)
  expect(processes.startedAt(2 ** 30)).toBeNull()
  if (process.platform === 'linux') expect(own.startedAt).toBeGreaterThan(unknownStart)
})
