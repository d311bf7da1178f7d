import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SandboxHarness } from './kit/sandboxes.ts'
import { calm, execIn, sampleWorkspace, shell } from './sandbox-contract.ts'

/** Scripts that leave something in the tree which no tree may have, with the code that the call fails with. */
const leftovers: readonly (readonly [string, string, string])[] = [
  ['a link to a file of the host', 'ln -s /etc/passwd l', 'WORKSPACE_PATH'],
  ['a link to a folder of the host', 'ln -s / l', 'WORKSPACE_PATH'],
  ['a link inside the tree', 'ln -s a.txt l', 'WORKSPACE_PATH'],
  ['a link that leads nowhere', 'ln -s /proc/self/fd/0 l', 'WORKSPACE_PATH'],
  ['a link in the place of a folder', 'rm -r dir; ln -s /usr dir', 'WORKSPACE_PATH'],
  ['another name of a file', 'ln a.txt l', 'WORKSPACE_PATH'],
  ['a pipe', 'mkfifo l', 'WORKSPACE_PATH'],
  ['Git metadata', 'mkdir .git; echo x > .git/config', 'WORKSPACE_PATH'],
  ['Git metadata in other letters', 'mkdir -p dir/.GiT; echo x > dir/.GiT/config', 'WORKSPACE_PATH'],
  ['Git metadata with letters that look alike', "mkdir '．git'; echo x > '．git/config'", 'WORKSPACE_PATH'],
  ['Git metadata with what nobody sees', 'mkdir "$(printf \'.g\\342\\200\\214it\')"', 'WORKSPACE_PATH'],
  ['a name with a line break', 'echo x > "$(printf \'a\\nb\')"', 'WORKSPACE_PATH'],
  ['a name that is no text', 'echo x > "$(printf \'a\\377b\')"', 'WORKSPACE_PATH'],
  ['a name with a backslash', "echo x > 'a\\b'", 'WORKSPACE_PATH'],
  ['a file that is no text', "printf 'a\\0b' > l", 'BINARY_FILE'],
  ['a file that is no UTF-8', "printf '\\377\\376' > l", 'BINARY_FILE'],
  ['a huge file without data', 'truncate -s 60M l', 'LIMIT_EXCEEDED'],
  ['too many files', 'mkdir many; cd many; i=0; while [ $i -lt 2100 ]; do : > f$i; i=$((i+1)); done', 'LIMIT_EXCEEDED'],
  ['too much altogether', 'for i in 1 2 3 4 5 6 7 8 9 10; do yes | head -c 1000000 > f$i; done', 'LIMIT_EXCEEDED'],
  ['a file that nobody may read', 'echo x > l; chmod 000 l', 'WORKSPACE_FAILED'],
]

const secret = `secret-${process.pid}`

/** What a hostile program tries. None of it reaches the host, and none of it stays. */
export function containmentContract(harness: SandboxHarness): void {
  let outside: string
  let port = 0
  const server = createServer((socket) => socket.end('reached'))
  const abstract = createServer((socket) => socket.end('reached'))
  const contacts: string[] = []
  beforeAll(async () => {
    outside = mkdtempSync(join(tmpdir(), 'landfall-outside-'))
    writeFileSync(join(outside, 'victim.txt'), secret)
    process.env.LANDFALL_TEST_SECRET = secret
    server.on('connection', () => contacts.push('tcp'))
    abstract.on('connection', () => contacts.push('abstract'))
    await new Promise<void>((resolve) => server.listen(0, '::', resolve))
    const address = server.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
    await new Promise<void>((resolve) => abstract.listen(`\0landfall-${process.pid}`, resolve))
  })
  afterAll(() => {
    server.close()
    abstract.close()
    delete process.env.LANDFALL_TEST_SECRET
    rmSync(outside, { recursive: true, force: true })
  })

  it.each(leftovers)('%s is refused, and the tree stays as it was', async (_what, script, code) => {
    const of = sampleWorkspace(harness)
    await expect(execIn(of, `${script}; exit 0`)).rejects.toMatchObject({ code })
    expect(of.current()).toBe(of.initial)
  })

  it('parents that are swapped all the time lead nowhere', async () => {
    const of = sampleWorkspace(harness)
    const swap = `(while :; do mv dir d; ln -s ${outside} dir; rm dir; mv d dir; done) & sleep 0.2`
    for (let round = 0; round < 3; round += 1) {
      const swapping = execIn(of, swap).catch((error: unknown) => error)
      const wrote = await of.workspace.write('dir/victim.txt', 'overwritten\n').then(
        () => true,
        () => false,
      )
      expect(wrote).toBe(true)
      await swapping
      const list = await of.workspace.list('.')
      expect(list.entries.every(({ type }) => type === 'file' || type === 'directory')).toBe(true)
      await expect(
        of.workspace.read('dir/victim.txt').then(
          ({ text }) => text,
          () => '',
        ),
      ).resolves.not.toBe(secret)
    }
    expect(readFileSync(join(outside, 'victim.txt'), 'utf8')).toBe(secret)
  })

  it('files of the host are not there to be read or written', async () => {
    const of = sampleWorkspace(harness)
    const victim = join(outside, 'victim.txt')
    const script = [
      `cat ${victim} /proc/1/root${victim} /proc/self/root${victim} /proc/$PPID/root${victim}`,
      `echo x > ${victim}`,
      `cat ${homedir()}/.ssh/* ${homedir()}/.profile /etc/shadow /var/run/docker.sock`,
      `ls -a ${homedir()} ${tmpdir()}`,
    ].join('; ')
    const { stdout } = await execIn(of, `(${script}) 2>/dev/null; true`)
    expect(stdout).not.toContain(secret)
    expect(readFileSync(victim, 'utf8')).toBe(secret)
    expect(stdout).not.toMatch(/root:/)
  })

  it('the environment, secrets and processes of the host are not seen', async () => {
    const of = sampleWorkspace(harness)
    const script = 'env; cat /proc/*/environ | tr "\\0" "\\n"; cat /proc/*/cmdline | tr "\\0" " "; hostname'
    const { stdout } = await execIn(of, `(${script}) 2>/dev/null; true`)
    expect(stdout).not.toContain(secret)
    expect(stdout).not.toContain('vitest')
    expect(stdout).toMatch(/sandbox\s*$/)
    const { stdout: identity } = await execIn(
      of,
      'id -u; grep -E "^(CapEff|CapPrm|CapBnd|NoNewPrivs)" /proc/self/status',
    )
    expect(identity.replace(/\s+/g, ' ')).toContain('1000 CapPrm: 0000000000000000 CapEff: 0000000000000000')
    expect(identity.replace(/\s+/g, ' ')).toContain('CapBnd: 0000000000000000 NoNewPrivs: 1')
  })

  it('nothing of the network is reached: IPv4, IPv6, names, abstract sockets', async () => {
    const of = sampleWorkspace(harness)
    const program = `
      const net = require('node:net'), dns = require('node:dns')
      const tried = (options) => new Promise((done) => {
        const socket = net.connect(options, () => done('REACHED'))
        socket.once('error', (error) => done(error.code))
        setTimeout(() => done('nothing'), 1500).unref()
      })
      const named = (host) => new Promise((done) => dns.resolve4(host, (error) => done(error ? 'none' : 'REACHED')))
      Promise.all([
        tried({ host: '127.0.0.1', port: ${port} }), tried({ host: '::1', port: ${port} }),
        tried({ host: '192.0.2.1', port: 80 }), tried({ host: '2001:db8::1', port: 80 }),
        tried({ path: '\\0landfall-${process.pid}' }), tried({ path: '/var/run/docker.sock' }), named('example.com'),
      ]).then((found) => { console.log(found.join(' ')); process.exit(0) })`
    const { stdout } = await of.workspace.exec({ argv: ['node', '-e', program], timeoutMs: 15_000 }, calm)
    expect(stdout.trim().split(' ')).toHaveLength(7)
    expect(stdout).not.toContain('REACHED')
    expect(contacts).toEqual([])
  })

  it('what outlives its parent, ignores signals, sleeps or multiplies is gone when the call has its result', async () => {
    const mark = `landfall-mark-${harness.name}-${process.pid}`
    const of = sampleWorkspace(harness)
    // Waits without a process of its own: among so many there may be no room for one.
    const script = `
      trap "" TERM INT HUP QUIT
      for i in 1 2 3; do (setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' ${mark} &) done
      sh -c 'sleep 1000 & sleep 1000 &' ${mark} &
      bomb() { bomb | bomb & }
      (bomb) 2>/dev/null &
      i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; echo over`
    expect(await execIn(of, script)).toMatchObject({ stdout: 'over\n' })
    expect(running(mark)).toEqual([])
    const controller = new AbortController()
    // It waits without a process of its own, since the bomb leaves none to start.
    const stopped = of.workspace.exec(shell(`${script}; while :; do :; done`), controller)
    setTimeout(() => controller.abort(new Error('stop')), 500)
    await expect(stopped).rejects.toThrow('stop')
    expect(running(mark)).toEqual([])
    expect(await execIn(of, 'cat a.txt')).toMatchObject({ stdout: 'hello\n' })
  })

  it('the shell around the program gives nothing away when it is attacked', async () => {
    const of = sampleWorkspace(harness)
    const attacks = [
      'kill -9 $PPID; kill -9 1; sleep 0.2',
      'for fd in /proc/$PPID/fd/*; do echo "exit 0" > $fd; done',
      'for fd in /proc/1/fd/*; do head -c 2000 /dev/zero > $fd; done',
    ]
    for (const attack of attacks) {
      await execIn(of, `(${attack}) 2>/dev/null`).catch((error: unknown) => {
        expect(error).toMatchObject({ name: 'LandfallError' })
      })
      expect(await execIn(of, 'cat a.txt')).toMatchObject({ stdout: 'hello\n' })
    }
    expect(readdirSync(harness.leases)).toEqual([])
  })
}

/** Numbers of processes of this machine, whoever they belong to, that carry a mark in their words. */
export function running(mark: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || name === String(process.pid) || !existsSync(`/proc/${name}/cmdline`)) return false
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark)
    } catch {
      return false
    }
  })
}
