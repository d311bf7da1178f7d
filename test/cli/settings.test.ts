import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { scopeOf } from '../../src/cli/cli-context.ts'
import { exitCodeOf, exitCodeOfStatus } from '../../src/cli/exit-codes.ts'
import { resolveSettings } from '../../src/cli/settings.ts'
import { LandfallError } from '../../src/facts/errors.ts'
import { main, workFolder } from './cli-process.ts'
import { landfall } from './landfall.ts'

// Processes are started here, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

describe('settings', () => {
  it('come from flags, then the environment, then the config file, then defaults', async () => {
    const folder = join(workFolder(), 'conf')
    mkdirSync(folder)
    const config = join(folder, 'landfall.json')
    const content = { db: 'c.db', tenant: 'c', user: 'c', session: 'c', model: 'script:c.json', budget: { tokens: 9 } }
    writeFileSync(config, JSON.stringify(content))
    const settings = await resolveSettings(
      { config, tenant: 'flag' },
      { LANDFALL_TENANT: 'env', LANDFALL_USER: 'env', LANDFALL_JSON: '1', LANDFALL_SESSION: '' },
    )
    expect(settings).toMatchObject({
      tenant: 'flag',
      user: 'env',
      session: 'c',
      json: true,
      quiet: false,
      sessionNamed: true,
    })
    expect(settings).toMatchObject({
      db: join(folder, 'c.db'),
      model: `script:${join(folder, 'c.json')}`,
      host: { budget: { tokens: 9 } },
    })
    expect(await resolveSettings({}, {})).toMatchObject({
      db: './landfall.db',
      tenant: 'local',
      user: 'local',
      session: 'default',
      sessionNamed: false,
    })
  })

  it('refuse a config file that is not valid, and name the place', async () => {
    const config = join(workFolder(), 'landfall.json')
    writeFileSync(config, '{"budget":{"tokens":"many"}}')
    await expect(resolveSettings({ config }, {})).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('budget.tokens'),
    })
    writeFileSync(config, '{"colour":"red"}')
    await expect(resolveSettings({ config }, {})).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(resolveSettings({ config: 'missing.json' }, {})).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('refuse what this version does not have, instead of ignoring it', async () => {
    await expect(resolveSettings({ db: 'postgres://host/db' }, {})).rejects.toMatchObject({ code: 'UNSUPPORTED' })
    for (const flags of [{ isolation: 'wishes' }, { model: 'parrot' }, { model: 'openai:' }, { model: 'script:' }])
      await expect(resolveSettings(flags, {})).rejects.toMatchObject({ code: 'USAGE' })
    for (const isolation of ['auto', 'bubblewrap', 'docker', 'none'])
      await expect(resolveSettings({ isolation }, {})).resolves.toMatchObject({ isolation })
  })
})

describe('exit codes', () => {
  it('tell done, failed, usage, refused and cancelled apart', () => {
    expect(['completed', 'failed', 'cancelled', 'superseded'].map(exitCodeOfStatus)).toEqual([0, 1, 130, 130])
    const of = (code: string, details = {}) => exitCodeOf(new LandfallError(code, '', { details }))
    expect([of('STORE_FULL'), of('USAGE'), of('INVALID_INPUT'), of('OWNERSHIP_LOST')]).toEqual([1, 2, 2, 3])
    expect(of('TASK_NOT_ACTIVE', { refused: true })).toBe(3)
    expect(exitCodeOf(new Error('a bug'))).toBe(1)
  })

  it('2 for what cannot be understood', async () => {
    const cwd = workFolder()
    for (const words of [
      [],
      ['nonsense'],
      ['run'],
      ['run', 'x'],
      ['run', 'x', '--model', 'script:none.json'],
      ['log', '--after', 'x'],
      ['run', 'x', '--colour'],
      ['replay'],
      ['confirm', 'x', 'maybe', '--model', 'script:say.json'],
    ]) {
      const { code, out, err } = await landfall(words, { cwd })
      expect([words, code, out]).toEqual([words, 2, ''])
      expect(err).not.toBe('')
    }
    const json = await landfall(['nonsense', '--json'], { cwd })
    expect(JSON.parse(json.err)).toMatchObject({ code: 'USAGE', message: expect.any(String), retryable: false })
  })
})

it('prints its version, also by the short flag, and help without an error', async () => {
  const cwd = workFolder()
  const version = await landfall(['--version'], { cwd })
  expect(version).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  expect((await landfall(['-V'], { cwd })).out).toBe(version.out)
  expect(await landfall(['--help'], { cwd })).toMatchObject({ code: 0, out: expect.stringContaining('verify') })
  expect((await landfall(['verify', '--help'], { cwd })).code).toBe(0)
})

it('is a program of its own', () => {
  // Windows has neither a first line with an interpreter nor a permission to run.
  if (process.platform === 'win32') return
  expect(spawnSync(main, ['--version']).status).toBe(0)
})

it('a store in a folder that is not there is an error of the store, and says what to do', async () => {
  const cwd = workFolder()
  writeFileSync(join(cwd, 'say.json'), JSON.stringify({ everyTurn: [{ text: 'ok' }] }))
  const run = await landfall(['run', 'x', '--db', 'none/here.db', '--model', 'script:say.json'], { cwd })
  expect(run).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^STORE_IO: .*folder/) })
})

it('what cannot be printed ends the command with an error', async (context) => {
  if (!existsSync('/dev/full')) context.skip('this system has no /dev/full')
  const cwd = workFolder()
  writeFileSync(join(cwd, 'say.json'), JSON.stringify({ everyTurn: [{ text: 'ok' }] }))
  expect((await landfall(['run', 'x', '--model', 'script:say.json'], { cwd })).code).toBe(0)
  const { status, stderr } = spawnSync('sh', ['-c', `'${process.execPath}' '${main}' log > /dev/full`], {
    cwd,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^OUTPUT_FAILED: .*ENOSPC/)])
})

it('a tenant, user or session that looks like a credential is refused by every command that takes one, and is not said again', async () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`
  const settings = { ...(await resolveSettings({}, {})), session: secret }
  expect(() => scopeOf(settings)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  const cwd = workFolder()
  const run = await landfall(['run', 'x', '--session', secret, '--model', 'script:say.json'], { cwd })
  expect(run).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^INVALID_INPUT: .*Choose another one/) })
  expect(run.err).not.toContain(secret)
  expect(existsSync(join(cwd, 'landfall.db'))).toBe(false)
})
