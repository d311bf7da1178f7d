import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Log } from '../../src/facts/log-port.ts'
import { appendContract } from './append-contract.ts'
import type { LogStore, MakeStore } from './log-harness.ts'
import { scopeA } from './log-harness.ts'
import { ownershipContract } from './ownership-contract.ts'
import { readingContract } from './reading-contract.ts'
import { sessionDataContract } from './session-data-contract.ts'

/** The promises of the log port, checked against one driver. A fresh store each test, closed and disposed of after it. */
export function logContract(name: string, makeStore: MakeStore): void {
  describe(`log contract: ${name}`, () => {
    let store: LogStore | null = null
    let opened: Log[] = []

    beforeEach(async () => {
      store = await makeStore()
      opened = []
    })
    afterEach(async () => {
      for (const log of new Set(opened)) await log.close()
      await store?.dispose()
      store = null
    })

    const current = (): LogStore => {
      if (store === null) throw new Error('no test is running')
      return store
    }
    const open = async (): Promise<Log> => {
      const log = await current().open()
      opened.push(log)
      return log
    }

    describe('append', () => appendContract(open))
    describe('reading', () => readingContract(open))
    describe('ownership', () => ownershipContract(open, current))
    describe('session data', () => sessionDataContract(open, current))

    test('a closed log refuses', async () => {
      const log = await current().open()
      await log.close()
      await expect(log.read(scopeA, { limit: 1 })).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
      await expect(log.append([])).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
    })
  })
}
