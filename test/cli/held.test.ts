import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { landfallProcess, start, workFolder } from './cli-process.ts'
import { landfall } from './landfall.ts'

// Processes are started here, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

it('a command on a turn that a quarantine holds ends, and the turn goes on after the acknowledgement', async () => {
  const cwd = workFolder()
  const pay = { calls: [{ name: 'pay', arguments: { much: '{{count:messages}}' } }] }
  writeFileSync(join(cwd, 'pay.json'), JSON.stringify({ everyTurn: [pay, pay, { text: 'Result: {{last}}' }] }))
  writeFileSync(
    join(cwd, 'pay.mjs'),
    `import { OutcomeUnknownError } from ${JSON.stringify(new URL('../../dist/src/index.js', import.meta.url).href)}
    let lost = process.env.LOST === '1'
    export default [{ kind: 'tool', name: 'pay', description: 'Pays.', tags: [], effect: 'mutate', confirm: 'none',
      load: 'start', input: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }),
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) } } },
      run: async () => { if (!lost) return 'paid'; lost = false; throw new OutcomeUnknownError('the line died') } }]`,
  )
  const shop = ['--model', 'script:pay.json', '--tools', 'pay.mjs']
  const running = start(['run', 'pay', ...shop], { cwd, env: { LOST: '1' } })
  await vi.waitFor(
    async () => {
      const facts = (await landfall(['log'], { cwd })).out
      expect(facts).toContain('"reason":"quarantine"')
    },
    { timeout: 30_000, interval: 30 },
  )
  running.process.kill('SIGKILL')
  await running.ended
  const steered = await landfall(['steer', 'and look', ...shop], { cwd })
  expect(steered).toMatchObject({ code: 0, out: expect.stringMatching(/^queued /) })
  const shown = await landfall(['show'], { cwd })
  expect(shown.out).toMatch(/quarantined/)
  const acknowledged = await landfallProcess(['acknowledge', 'all', ...shop], { cwd })
  expect(acknowledged).toMatchObject({ code: 0, out: expect.stringMatching(/^applied /) })
  const messages = JSON.parse((await landfall(['messages', '--json'], { cwd })).out)
  expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: expect.stringContaining('paid') })
  expect((await landfall(['verify'], { cwd })).code).toBe(0)
})
