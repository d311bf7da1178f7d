import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { landfallProcess, workFolder } from './cli-process.ts'
import { landfall } from './landfall.ts'

// Processes are started here, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

it('a call that waits for approval ends the command, and is confirmed by another process', async () => {
  const cwd = workFolder()
  const steps = [{ calls: [{ name: 'buy', arguments: { what: 'tea' } }] }, { text: 'Result: {{last}}' }]
  writeFileSync(join(cwd, 'buy.json'), JSON.stringify({ everyTurn: steps }))
  writeFileSync(
    join(cwd, 'buy.mjs'),
    `export default [{ kind: 'tool', name: 'buy', description: 'Buys.', tags: [], effect: 'mutate', confirm: 'each',
      load: 'start', input: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }),
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) } } },
      run: async ({ what }) => 'bought ' + what }]`,
  )
  const shop = ['--model', 'script:buy.json', '--tools', 'buy.mjs']
  const paused = await landfall(['run', 'some tea', ...shop], { cwd })
  expect(paused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^TASK_PAUSED: .*reasons=approval/m) })
  const { pauses } = JSON.parse((await landfall(['show', '--json'], { cwd })).out)
  expect(pauses).toMatchObject([{ reason: 'approval' }])
  const confirmed = await landfallProcess(['confirm', pauses[0].token, 'allow', ...shop], { cwd })
  expect(confirmed).toMatchObject({ code: 0, out: expect.stringMatching(/^applied /) })
  const messages = JSON.parse((await landfall(['messages', '--json'], { cwd })).out)
  expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: expect.stringContaining('bought tea') })
  const again = await landfall(['confirm', pauses[0].token, 'allow', ...shop], { cwd })
  expect(again).toMatchObject({ code: 3, err: expect.stringMatching(/^ALREADY_SETTLED: /) })
  expect((await landfall(['verify'], { cwd })).code).toBe(0)
})
