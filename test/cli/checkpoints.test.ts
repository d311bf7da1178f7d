import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { workFolder } from './cli-process.ts'
import { landfall } from './landfall.ts'

const say = ['--model', 'script:say.json']

it('takes a session from one store to another, where it goes on', async () => {
  const cwd = workFolder()
  await landfall(['run', 'hello', ...say], { cwd })
  const at = (await landfall(['log'], { cwd })).out.trim().split('\n').length
  await landfall(['run', 'again', ...say], { cwd })
  const taken = await landfall(['checkpoint'], { cwd })
  expect(JSON.parse(taken.out)).toMatchObject({ version: 1, identity: { turns: 2, phase: 'finished' } })
  expect((await landfall(['checkpoint', '--json'], { cwd })).out).toBe(taken.out)
  const past = await landfall(['checkpoint', '--at', String(at)], { cwd })
  writeFileSync(join(cwd, 'past.json'), past.out)
  const other = ['--db', 'other.db']
  expect(await landfall(['restore', 'past.json', ...other, '--json'], { cwd })).toMatchObject({
    code: 0,
    out: `${JSON.stringify({ result: 'restored', tenant: 'local', user: 'local', session: 'default', turns: 1, messages: 2 })}\n`,
  })
  expect((await landfall(['run', 'then', ...say, ...other], { cwd })).out).toContain('Turn 1: then')
  expect(await landfall(['restore', '-', ...other, '--session', 'copy'], { cwd, input: taken.out })).toMatchObject({
    code: 0,
    out: 'restored session=copy turns=2 messages=4\n',
  })
  const foreign = await landfall(['restore', 'past.json', ...other, '--user', 'ann'], { cwd })
  expect(foreign).toMatchObject({ code: 0, out: 'restored session=default turns=1 messages=2\n' })
  expect((await landfall(['ledger', '--user', 'ann', ...other], { cwd })).out).toMatch(
    /restore .*\n.*elevated_read .*actor=ann/,
  )
  expect((await landfall(['verify', '--all', ...other], { cwd })).code).toBe(0)
})

it('refuses by code and exit code what cannot be restored', async () => {
  const cwd = workFolder()
  await landfall(['run', 'hello', ...say], { cwd })
  const { out } = await landfall(['checkpoint'], { cwd })
  writeFileSync(join(cwd, 'taken.json'), out)
  const restore = async (file: string, ...more: string[]) =>
    landfall(['restore', file, '--db', 'other.db', ...more], { cwd })
  expect(await restore('missing.json')).toMatchObject({ code: 2, err: expect.stringMatching(/^INVALID_INPUT: /) })
  writeFileSync(join(cwd, 'damaged.json'), out.replace('hello', 'hallo'))
  expect(await restore('damaged.json')).toMatchObject({ code: 3, err: expect.stringMatching(/^CHECKPOINT_INVALID: /) })
  writeFileSync(join(cwd, 'newer.json'), out.replace('"version":1', '"version":2'))
  expect(await restore('newer.json')).toMatchObject({ code: 3, err: expect.stringMatching(/^CHECKPOINT_VERSION: /) })
  expect((await restore('taken.json')).code).toBe(0)
  expect(await restore('taken.json')).toMatchObject({ code: 3, err: expect.stringMatching(/^CONTEXT_FIXED: /) })
  expect((await landfall(['restore'], { cwd })).code).toBe(2)
  expect(await landfall(['checkpoint', '--session', 'never'], { cwd })).toMatchObject({ code: 1 })
  expect((await landfall(['checkpoint', '--at', 'x'], { cwd })).code).toBe(2)
  expect(readFileSync(join(cwd, 'taken.json'), 'utf8')).toBe(out)
})

it('keeps, lists, shows and removes notes', async () => {
  const cwd = workFolder()
  expect(await landfall(['memory', 'plan', '{"next":["tea"]}'], { cwd })).toMatchObject({
    code: 0,
    out: 'applied seq=1\n',
  })
  await landfall(['memory', 'word', 'plain text'], { cwd })
  expect((await landfall(['memory'], { cwd })).out).toBe('plan bytes=16\nword bytes=12\n')
  expect((await landfall(['memory', 'word'], { cwd })).out).toBe('"plain text"\n')
  expect((await landfall(['memory', 'plan'], { cwd })).out).toBe('{"next":["tea"]}\n')
  expect(await landfall(['memory', 'plan', '--of', 'user'], { cwd })).toMatchObject({ code: 1 })
  expect((await landfall(['memory', '--user', 'ann'], { cwd })).out).toBe('')
  expect((await landfall(['memory', 'word', '--remove'], { cwd })).code).toBe(0)
  expect(await landfall(['memory', 'word', '--remove'], { cwd })).toMatchObject({
    code: 3,
    err: expect.stringMatching(/^NOT_FOUND: /),
  })
  expect((await landfall(['memory', '--remove'], { cwd })).code).toBe(2)
  expect((await landfall(['memory', 'a', 'b', '--of', 'tenant'], { cwd })).code).toBe(2)
  expect((await landfall(['verify'], { cwd })).code).toBe(0)
})
