import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { workFolder } from './cli-process.ts'
import { landfall } from './landfall.ts'

it('takes skills from a folder, and activates the one that the input names', async () => {
  const cwd = workFolder()
  mkdirSync(join(cwd, 'skills/brief'), { recursive: true })
  const manifest = '---\nname: brief\ndescription: Says it in few words.\ntags: [style]\n---\nAnswer in three words.\n'
  writeFileSync(join(cwd, 'skills/brief/SKILL.md'), manifest)
  const model = { everyTurn: [{ text: 'You said: {{input}}' }] }
  writeFileSync(join(cwd, 'say.json'), JSON.stringify(model))
  const flags = ['--model', 'script:say.json', '--skills', 'skills']
  const run = await landfall(['run', 'Tell me /brief about tea', ...flags], { cwd })
  expect(run).toMatchObject({ code: 0, out: expect.stringMatching(/^You said: Tell me\s+about tea\n$/) })
  const facts = (await landfall(['log'], { cwd })).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const activated = facts.find(({ type }) => type === 'capability.activated')
  expect(activated.data).toMatchObject({ ref: { id: 'skill:brief' }, scope: 'task' })
  expect(await landfall(['verify'], { cwd })).toMatchObject({ code: 0 })
  const missing = await landfall(['run', 'x', '--model', 'script:say.json', '--skills', 'nowhere'], { cwd })
  expect(missing).toMatchObject({ code: 2, err: expect.stringMatching(/^INVALID_INPUT: The folder of skills/) })
})
