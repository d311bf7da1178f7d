import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { limits } from '../../src/facts/limits.ts'
import { isAttested } from '../../src/workspace/attestation.ts'
import { type IsolatedWorkspace, isolatedWorkspace } from '../../src/workspace/isolated-workspace.ts'
import type { SandboxBounds } from '../../src/workspace/sandbox.ts'
import { type Tree, textFile, treeDigest } from '../../src/workspace/tree.ts'
import type { ExecResult } from '../../src/workspace/workspace.ts'
import type { SandboxHarness } from './kit/sandboxes.ts'

export const sampleTree: Tree = new Map([
  ['a.txt', textFile('hello\n', false)],
  ['dir/deep/b.txt', textFile('below\n', false)],
  ['dir/run', textFile('#!/bin/sh\necho ran "$@"\n', true)],
  ['ü 名.txt', textFile('names\n', false)],
])

export function sampleWorkspace(harness: SandboxHarness, bounds: Partial<SandboxBounds> = {}): IsolatedWorkspace {
  return isolatedWorkspace({ initial: sampleTree, sandbox: harness.make(bounds), bounds: { ...limits, ...bounds } })
}

export const calm = { signal: new AbortController().signal }

/** A shell script, as a program: what contains must hold for whatever runs. */
export const shell = (script: string, ...words: string[]) => ({ argv: ['sh', '-c', script, 'sh', ...words] })

export function execIn(of: IsolatedWorkspace, script: string): Promise<ExecResult> {
  return of.workspace.exec(shell(script), calm)
}

/** What every isolation driver promises, asked of a real one. Nothing here is said about how it does it. */
export function sandboxContract(harness: SandboxHarness): void {
  it('runs a program on a copy of the tree, with its folders, names and modes', async () => {
    const of = sampleWorkspace(harness)
    const result = await execIn(of, 'cat a.txt dir/deep/b.txt "ü 名.txt"; ./dir/run x "y z"; pwd; echo no >&2; exit 7')
    expect(result).toEqual({
      exitCode: 7,
      stdout: 'hello\nbelow\nnames\nran x y z\n/ws\n',
      stderr: 'no\n',
      changed: 0,
    })
    expect(isAttested(of.workspace)).toBe(true)
    expect(of.workspace.isolation).toBe(harness.name)
  })

  it('reads no word by a shell, and says how a program ended that is not there or was killed', async () => {
    const { workspace } = sampleWorkspace(harness)
    expect(await workspace.exec({ argv: ['echo', '$(id)', '`id`', '*', "it's", '', 'a\nb'] }, calm)).toMatchObject({
      stdout: "$(id) `id` * it's  a\nb\n",
    })
    expect(await workspace.exec({ argv: ['no-such-program'] }, calm)).toMatchObject({ exitCode: 127 })
    expect(await workspace.exec(shell('kill -9 $$'), calm)).toMatchObject({ exitCode: 137 })
    expect(await workspace.exec({ argv: ['node', '-e', 'console.log(1 + 1)'] }, calm)).toMatchObject({ stdout: '2\n' })
    expect(await workspace.exec({ argv: ['pwd'], cwd: 'dir/deep' }, calm)).toMatchObject({ stdout: '/ws/dir/deep\n' })
  })

  it('keeps what a program changed: new, other, moved, gone, and modes; then the next one sees it', async () => {
    const of = sampleWorkspace(harness)
    const before = of.initialDigest
    const result = await execIn(
      of,
      'echo more >> a.txt; mkdir new; echo n > new/n; mv dir/deep/b.txt c; chmod +x "ü 名.txt"',
    )
    expect(result).toMatchObject({ exitCode: 0, changed: 5 })
    expect([...of.current().keys()].sort()).toEqual(['a.txt', 'c', 'dir/run', 'new/n', 'ü 名.txt'])
    expect(of.current().get('ü 名.txt')?.executable).toBe(true)
    expect(await execIn(of, 'cat a.txt new/n c')).toMatchObject({ stdout: 'hello\nmore\nn\nbelow\n', changed: 0 })
    expect(await of.workspace.read('c')).toMatchObject({ text: 'below\n' })
    expect((await of.workspace.diff()).diff).toContain('rename from dir/deep/b.txt\nrename to c\n')
    expect(of.initialDigest).toBe(before)
    expect(treeDigest(of.initial)).toBe(before)
  })

  it('shows a program what was written, and gives nothing back to a call that is stopped before it began', async () => {
    const of = sampleWorkspace(harness)
    await of.workspace.write('dir/new.txt', 'written\n')
    const stopped = new AbortController()
    const [first, second] = [
      of.workspace.exec(shell('sleep 0.3; cat dir/new.txt; echo 1 > one'), calm),
      of.workspace.exec(shell('echo 2 > two'), { signal: stopped.signal }),
    ]
    stopped.abort(new Error('not any more'))
    await expect(second).rejects.toThrow('not any more')
    expect(await first).toMatchObject({ stdout: 'written\n' })
    expect([...of.current().keys()]).not.toContain('two')
  })

  it('ends a program at its time, at too much output, and when its call is told to stop; nothing of it is kept', async () => {
    const of = sampleWorkspace(harness)
    const late = of.workspace.exec({ ...shell('echo x > x; sleep 60'), timeoutMs: 400 }, calm)
    await expect(late).rejects.toMatchObject({ code: 'PROCESS_TIMEOUT' })
    await expect(execIn(of, 'echo x > x; yes')).rejects.toMatchObject({ code: 'OUTPUT_LIMIT' })
    await expect(execIn(of, 'yes >&2')).rejects.toMatchObject({ code: 'OUTPUT_LIMIT' })
    const controller = new AbortController()
    const running = of.workspace.exec(shell('echo x > x; trap "" TERM INT HUP; sleep 60'), controller)
    setTimeout(() => controller.abort(new Error('enough')), 300)
    await expect(running).rejects.toThrow('enough')
    expect(of.current()).toBe(of.initial)
    expect(readdirSync(harness.leases)).toEqual([])
  })

  // How memory, processes and processor time are bounded is looked at with each of them lowered, by `lowered-bounds.test.ts`.
  it('bounds each place that can be written, and lets no other be', async () => {
    const of = sampleWorkspace(harness, { sandboxDiskBytes: 4 * 1024 * 1024 })
    const fill = (place: string) =>
      `dd if=/dev/zero of=${place}/x bs=1M count=6 2>/dev/null && echo ${place}; rm -f ${place}/x`
    const touch = (place: string) => `(echo x > ${place}/x) 2>/dev/null && echo ${place}`
    const filled = ['/ws', '/tmp', '/dev/shm'].map(fill)
    const touched = ['/', '/usr', '/dev', '/etc', '/proc', '/sys', '/bin', '/opt', '/var', '/mnt'].map(touch)
    expect(await execIn(of, [...filled, ...touched, 'echo over'].join('\n'))).toMatchObject({ stdout: 'over\n' })
    expect(await execIn(of, 'echo x > /tmp/x && echo x > /dev/shm/x && cat /tmp/x')).toMatchObject({ stdout: 'x\n' })
  })

  it('refuses programs and words beyond their bounds before anything runs', async () => {
    const { workspace } = sampleWorkspace(harness)
    const invalid = { code: 'INVALID_ARGUMENTS' }
    for (const argv of [
      [],
      [''],
      ['-x'],
      ['a\0b'],
      ['a', 'half \ud800'],
      new Array(129).fill('a'),
      ['a', 'x'.repeat(64 * 1024)],
    ])
      await expect(workspace.exec({ argv }, calm)).rejects.toMatchObject(invalid)
    for (const timeoutMs of [0, -1, 1.5, 30_001])
      await expect(workspace.exec({ argv: ['true'], timeoutMs }, calm)).rejects.toMatchObject(invalid)
    await expect(workspace.exec({ argv: ['true'], cwd: '..' }, calm)).rejects.toMatchObject({ code: 'WORKSPACE_PATH' })
    await expect(workspace.exec({ argv: ['true'], cwd: 'gone' }, calm)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is of no more use after it was disposed of, which ends what runs', async () => {
    const of = sampleWorkspace(harness)
    const running = execIn(of, 'sleep 60')
    const ended = expect(running).rejects.toMatchObject({ code: 'WORKSPACE_DISPOSED' })
    await new Promise((resolve) => setTimeout(resolve, 200))
    await of.dispose()
    await ended
    await expect(execIn(of, 'true')).rejects.toMatchObject({ code: 'WORKSPACE_DISPOSED' })
    await expect(of.workspace.read('a.txt')).rejects.toMatchObject({ code: 'WORKSPACE_DISPOSED' })
    expect(readdirSync(harness.leases)).toEqual([])
  })
}
