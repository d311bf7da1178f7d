import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { treeDigest } from '../../src/workspace/tree.ts'
import type { SandboxHarness } from './kit/sandboxes.ts'
import { calm, execIn, sampleWorkspace, shell } from './sandbox-contract.ts'

const outside = '/etc/passwd'

/** Paths that no tool takes, with the code that each of them gives. */
const paths: readonly string[] = [
  '..',
  '../a.txt',
  'dir/../../a.txt',
  '/',
  outside,
  '//etc/passwd',
  '/proc/self/environ',
  '/dev/stdin',
  'C:\\a.txt',
  'C:a.txt',
  'NUL:',
  'dir\\..\\a.txt',
  '.git',
  '.git/config',
  'dir/.GIT/config',
  '.Git./config',
  'git~1/config',
  '．ｇｉｔ/config',
  '.g\u200cit/config',
  '.git\ufeff/config',
  'a\u0000.txt',
  'a\n.txt',
  'a\u0085b',
  '\ud800',
  'n'.repeat(256),
  `${'d/'.repeat(2_048)}f`,
]

/** What a program may try on the system around it: none of it may say that it worked. */
const attempts: readonly (readonly [string, string])[] = [
  ['make a device', 'mknod l c 1 3 && echo DONE'],
  ['make a block device elsewhere', 'mknod /tmp/l b 8 0 && echo DONE'],
  ['mount', 'mount -t tmpfs none /mnt 2>/dev/null && echo DONE; mount -t proc none /tmp && echo DONE'],
  ['have a namespace of its own as root', 'unshare -U -r sh -c "id -u" | grep -x 0 && echo DONE'],
  ['have a root of its own', 'chroot / true && echo DONE'],
  ['set the host name', 'hostname other && echo DONE'],
  ['set the clock', 'date -s 2001-01-01; [ $(date +%Y) = 2001 ] && echo DONE'],
  [
    'read memory of the kernel',
    'head -c 1 /dev/mem /dev/kmem /proc/kcore /dev/kmsg 2>/dev/null | grep -q . && echo DONE',
  ],
  ['change the kernel', '(echo 1 > /proc/sys/kernel/sysrq) && echo DONE; (echo b > /proc/sysrq-trigger) && echo DONE'],
  [
    'leave its control group',
    '(for f in $(find /sys/fs/cgroup -name cgroup.procs); do echo $$ > $f && echo DONE; done)',
  ],
  ['raise its limits', 'ulimit -H -f unlimited && echo DONE; ulimit -H -t unlimited && echo DONE'],
  ['become somebody else', 'su -c true root </dev/null && echo DONE; setpriv --reuid 0 true && echo DONE'],
]

const nested =
  "for (let at = 0; at < 2100; at += 1) { fs.mkdirSync('d'); process.chdir('d') } fs.writeFileSync('f', '')"

/** Scripts that are too much of something, with the codes that their call may fail with. */
const bombs: readonly (readonly [string, string, readonly string[]])[] = [
  // Which comes first depends on the tar: that a path is too long, that there are too many names, or that it cannot go on.
  ['folders deep in each other', `exec node -e "${nested}"`, ['WORKSPACE_PATH', 'LIMIT_EXCEEDED', 'WORKSPACE_FAILED']],
  ['many folders beside each other', 'mkdir m; cd m; mkdir $(seq 1 3100)', ['LIMIT_EXCEEDED']],
  ['an output without an end on both streams', 'yes & yes >&2', ['OUTPUT_LIMIT']],
  ['an output without line ends', 'cat /dev/zero', ['OUTPUT_LIMIT']],
  ['a sleep for as long as clocks can say', 'sleep 2147483647', ['PROCESS_TIMEOUT']],
  ['a loop that takes no signal', 'trap "" TERM INT HUP QUIT ALRM USR1 PIPE; while :; do :; done', ['PROCESS_TIMEOUT']],
  ['processes that have children without an end', 'f() { f | f & }; (f) & exec sleep 60', ['PROCESS_TIMEOUT']],
]

/** What else a hostile model or program tries, through every tool. */
export function hostileContract(harness: SandboxHarness): void {
  const host = mkdtempSync(join(tmpdir(), 'landfall-host-'))
  writeFileSync(join(host, 'victim.txt'), 'untouched')
  afterAll(() => rmSync(host, { recursive: true, force: true }))

  it('no tool takes a path that is not one of the tree', async () => {
    const of = sampleWorkspace(harness)
    const refused = { code: 'WORKSPACE_PATH' }
    for (const path of [...paths, join(host, 'victim.txt'), `../..${host}/victim.txt`]) {
      await expect(of.workspace.read(path), path).rejects.toMatchObject(refused)
      await expect(of.workspace.list(path), path).rejects.toMatchObject(refused)
      await expect(of.workspace.write(path, 'x'), path).rejects.toMatchObject(refused)
      await expect(of.workspace.exec({ argv: ['true'], cwd: path }, calm), path).rejects.toMatchObject(refused)
    }
    expect(of.current()).toBe(of.initial)
    expect(readFileSync(join(host, 'victim.txt'), 'utf8')).toBe('untouched')
  })

  it('names that differ by case or form alone are other files, here and in the sandbox', async () => {
    const of = sampleWorkspace(harness)
    await of.workspace.write('A.TXT', 'upper\n')
    await of.workspace.write('u\u0308 名.txt', 'decomposed\n')
    const result = await execIn(of, 'cat a.txt A.TXT "ü 名.txt" "$(printf \'u\\314\\210 名.txt\')"; echo x > a.TXT')
    expect(result).toMatchObject({ stdout: 'hello\nupper\nnames\ndecomposed\n', changed: 1 })
    expect((await of.workspace.read('a.txt')).text).toBe('hello\n')
  })

  it('a program cannot reach for what is around it', async () => {
    const of = sampleWorkspace(harness)
    const told = attempts.map(([what, script]) => `(${script}) 2>/dev/null | grep -q DONE && echo 'it can ${what}'`)
    const { stdout } = await execIn(of, `${told.join('\n')}\necho over`)
    expect(stdout).toBe('over\n')
    expect(treeDigest(of.current())).toBe(of.initialDigest)
  })

  it.each(bombs)('%s: ended or refused, and the tree stays as it was', async (_what, script, codes) => {
    const of = sampleWorkspace(harness, { workspaceFiles: 300 })
    const timeoutMs = codes.includes('PROCESS_TIMEOUT') ? 500 : 20_000
    const error = await of.workspace.exec({ ...shell(script), timeoutMs }, calm).catch((given: unknown) => given)
    expect(codes).toContain((error as { code?: string }).code)
    expect(of.current()).toBe(of.initial)
    expect(readdirSync(harness.leases)).toEqual([])
  })

  it('a socket that a program leaves is not kept, and harms nothing', async () => {
    const of = sampleWorkspace(harness)
    const program = "require('net').createServer().listen('dir/s', () => process.kill(process.pid, 'SIGKILL'))"
    const result = await of.workspace.exec({ argv: ['node', '-e', program] }, calm)
    expect(result).toMatchObject({ exitCode: 137, changed: 0 })
    expect(await execIn(of, 'ls dir')).toMatchObject({ stdout: 'deep\nrun\n' })
  })

  it('what looks like the words of the sandbox itself is an output like any other', async () => {
    const of = sampleWorkspace(harness)
    const { stdout, exitCode } = await execIn(of, 'echo exit 0; head -c 1024 /dev/zero | tr "\\0" "="; echo; exit 3')
    expect([exitCode, stdout.slice(0, 7), stdout.length]).toEqual([3, 'exit 0\n', 1_032])
  })
}
