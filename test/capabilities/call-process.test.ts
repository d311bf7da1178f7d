import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callProcess } from '../../src/capabilities/call-process.ts'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'

const calm = { signal: new AbortController().signal }
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A zombie that nobody has waited for yet is dead all the same.
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 400 && !holds(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 10))
  expect(holds()).toBe(true)
}
const pidsIn = (file: string): number[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean).map(Number) : []
const freshFile = (): string => join(mkdtempSync(join(tmpdir(), 'landfall-call-')), 'pids')
const stubborn =
  'trap "" TERM; (trap "" TERM; sleep 300) & echo $! > "$1"; echo $$ >> "$1"; while true; do sleep 1; done'

describe('a process of a call', () => {
  it('gives what the program wrote and how it ended; its words are no shell text', async () => {
    const result = await callProcess(calm, ['/bin/echo', '$(id); `id`', '*'])
    expect(result).toEqual({ exitCode: 0, stdout: '$(id); `id` *\n', stderr: '' })
    expect((await callProcess(calm, ['/bin/sh', '-c', 'echo no >&2; exit 3'])).exitCode).toBe(3)
  })

  it('takes what the program leaves behind with it', async () => {
    const file = freshFile()
    await callProcess(calm, ['/bin/sh', '-c', 'sleep 300 & echo $! > "$1"', 'sh', file])
    expect(pidsIn(file).filter(isAlive)).toEqual([])
  })

  it('ends a program that floods', async () => {
    const flood = callProcess(calm, ['/bin/sh', '-c', 'while true; do echo flood; done'], { outputBytes: 10_000 })
    await expect(flood).rejects.toMatchObject({ code: 'OUTPUT_LIMIT' })
  })

  it('is gone with its descendants when its call is cancelled, which acknowledges the abort', async () => {
    const file = freshFile()
    const work = defineTool({
      name: 'work',
      description: 'Works for ever.',
      input: z.object({}),
      run: (_, context) => callProcess(context, ['/bin/sh', '-c', stubborn, 'sh', file]),
    })
    const model = scriptedModel({ name: 's', turns: [[{ calls: [{ name: 'work', arguments: {} }] }]] })
    const runtime = await openRuntime({ log: memoryLog(), model, catalog: [work] })
    const session = runtime.session({ tenant: 't', user: 'u', session: 's' })
    const task = await session.start('work')
    await until(() => pidsIn(file).length === 2)
    await session.cancel()
    expect(await task.outcome()).toMatchObject({ status: 'cancelled', calls: { cancelled: 1, unknownMutating: 0 } })
    expect(pidsIn(file).filter(isAlive)).toEqual([])
    const cancelled = (await session.log()).find((fact) => fact.type === 'call.cancelled')
    expect(cancelled?.data).toEqual({ when: 'acknowledged' })
    await runtime.close()
  })

  it('does not outlive its host, however the host ends', async () => {
    const file = freshFile()
    const host = spawn(process.execPath, [fileURLToPath(new URL('./call-process/host.mjs', import.meta.url)), file])
    await until(() => pidsIn(file).length === 2)
    const pids = pidsIn(file)
    expect(pids.every(isAlive)).toBe(true)
    host.kill('SIGKILL')
    await until(() => !pids.some(isAlive))
  })
})
