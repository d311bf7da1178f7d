import { pathToFileURL } from 'node:url'

/*
 * One turn of programs that behave and that do not, whoever this process is; says what became of each call.
 * Arguments: the built library, a mark for the processes of the sandbox, the options of the workspace as JSON.
 */
const [library = '', mark = '', workspace = ''] = process.argv.slice(2)
const { openRuntime, scriptedModel, memoryLog } = await import(pathToFileURL(`${library}/src/index.js`).href)

const exec = (script, more = {}) => ({ name: 'process.exec', arguments: { argv: ['sh', '-c', script, mark], ...more } })
const calls = [
  exec('id -u; cat a.txt'),
  { name: 'fs.write', arguments: { path: 'b.txt', contents: 'written\n' } },
  exec('cat b.txt; echo more >> b.txt'),
  exec(`(setsid sh -c 'trap "" TERM; while :; do sleep 1; done' ${mark} &); sleep 60`, { timeoutMs: 600 }),
  exec('yes'),
  exec('(setsid sleep 60 &); echo over'),
  { name: 'process.exec', arguments: { argv: ['node', '-e', 'const k = []; for (;;) k.push(Buffer.alloc(1e7, 1))'] } },
  exec('ln -s /etc/passwd l'),
  { name: 'git.diff', arguments: {} },
]
const turns = [[...calls.map((call) => ({ calls: [call] })), { text: 'Done.' }]]
const runtime = await openRuntime({
  log: memoryLog(),
  model: scriptedModel({ name: 'm', turns }),
  workspace: JSON.parse(workspace),
  limits: { sandboxMemoryBytes: 128 * 1_048_576 },
})
const session = runtime.session({ tenant: 't', user: 'u', session: 's' })
await (await session.start('go')).outcome()
const results = (await session.messages())
  .filter(({ role }) => role === 'tool')
  .map(({ content }) => JSON.parse(content))
await runtime.close()
process.stdout.write(JSON.stringify({ uid: process.getuid(), results }))
