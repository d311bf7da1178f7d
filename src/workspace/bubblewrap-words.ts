import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { type SandboxBounds, sandboxEnvironment } from './sandbox.ts'

const nodeFolder = '/opt/landfall'

/** Descriptors of the sandbox beside the usual three: the tree goes in and comes out, a line says go, bwrap tells of itself. */
export const descriptors = { treeIn: 3, treeOut: 4, go: 5, info: 6 } as const

/** Stands outside: waits until the process is in its control groups, then lowers what is inherited and takes bwrap's shape. */
export function outerScript(bounds: SandboxBounds, memoryByProcess: boolean): string {
  const { sandboxDiskBytes, sandboxCpuMs, sandboxMemoryBytes } = bounds
  return [
    `read -r _ <&${descriptors.go} || exit 126`,
    `exec ${descriptors.go}<&-`,
    'ulimit -c 0',
    'ulimit -n 1024',
    `ulimit -f ${Math.ceil(sandboxDiskBytes / 512)}`,
    `ulimit -t ${Math.ceil(sandboxCpuMs / 1_000)}`,
    // Without a group the memory of each process is bounded by itself. Address space cannot be: programs reserve much of it.
    ...(memoryByProcess ? [`ulimit -d ${Math.ceil(sandboxMemoryBytes / 1_024)}`] : []),
    'exec "$@"',
  ].join('\n')
}

/**
 * Stands inside: fills the tree, runs the program, ends whatever is left of it, and tells of the tree. The words of the program
 * are never read by the shell. Whatever the program does to this shell, it can only change what is told of its own tree. It first
 * says that it is there and waits for an answer: bwrap does not notice a host that is gone before bwrap has begun to watch it,
 * which it has once this script runs.
 */
export function innerScript(bounds: SandboxBounds, processesByUser: boolean, cwd: string): string {
  const { treeIn, treeOut } = descriptors
  const bound = bounds.sandboxProcesses
  return [
    `echo >&${treeOut} && read -r _ <&${treeIn} || exit 126`,
    `tar -x -f - -C /ws <&${treeIn} || exit 125`,
    `exec ${treeIn}<&-`,
    ...(processesByUser ? [`ulimit -u ${bound} 2>/dev/null || ulimit -p ${bound} 2>/dev/null`] : []),
    `(cd ${quoted(`/ws/${cwd}`)} && exec "$@") </dev/null ${treeOut}>&-`,
    'code=$?',
    '{ kill -9 -1; } 2>/dev/null',
    `printf 'exit %s\\n' "$code" >&${treeOut}`,
    // No further process is needed from here on: there may be no room for one.
    `exec tar -c -f - -C /ws . >&${treeOut} 2>/dev/null`,
  ].join('\n')
}

export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

export function bubblewrapWords(bounds: SandboxBounds): readonly string[] {
  const disk = String(bounds.sandboxDiskBytes)
  return [
    ['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ['--uid', '1000', '--gid', '1000', '--hostname', 'sandbox', '--info-fd', String(descriptors.info)],
    ...systemFolders(),
    ...ownNode(),
    ['--proc', '/proc', '--dev', '/dev'],
    ['--size', disk, '--tmpfs', '/dev/shm', '--size', disk, '--tmpfs', '/tmp', '--size', disk, '--tmpfs', '/ws'],
    // What is mounted for the names alone must not be a place to write without a bound.
    ['--remount-ro', '/dev', '--remount-ro', '/'],
    ['--chdir', '/ws', '--clearenv'],
    ...Object.entries(sandboxEnvironment).map(([name, value]) => ['--setenv', name, value]),
    ['--setenv', 'PATH', `${nodeFolder}:${sandboxEnvironment.PATH}`],
  ].flat()
}

/** The system's programs and what they are linked to, read only, laid out as they are here; of the configuration only names. */
function systemFolders(): readonly (readonly string[])[] {
  const words: string[][] = [['--ro-bind', '/usr', '/usr']]
  for (const folder of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    if (!existsSync(folder)) continue
    const isLink = lstatSync(folder).isSymbolicLink()
    words.push(isLink ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder])
  }
  for (const item of ['/etc/alternatives', '/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d'])
    if (existsSync(item)) words.push(['--ro-bind', item, item])
  return words
}

/** The node that this process runs on, where the system's folders do not have it. */
function ownNode(): readonly (readonly string[])[] {
  const node = realpathSync(process.execPath)
  if (node.startsWith('/usr/') && ['/usr/local/bin', '/usr/bin'].includes(dirname(process.execPath))) return []
  return [['--ro-bind-try', node, `${nodeFolder}/node`]]
}
