import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/*
 * Runs one program in a sandbox of this process, whatever the process was started with, and says what it said.
 * Arguments: the built library, then the program and its words.
 */
const [library = '', ...argv] = process.argv.slice(2)
const load = (path) => import(pathToFileURL(`${library}/src/${path}.js`).href)
const { limits } = await load('facts/limits')
const { bubblewrapSandbox } = await load('workspace/bubblewrap')
const { Leases } = await load('workspace/leases')

const leases = new Leases(mkdtempSync(join(tmpdir(), 'landfall-leases-')))
const sandbox = bubblewrapSandbox({ bounds: limits, leases })
const { signal } = new AbortController()
const end = await sandbox.run({ tree: new Map(), argv, cwd: '', timeoutMs: 10_000, signal })
process.stdout.write(end.stdout + end.stderr)
