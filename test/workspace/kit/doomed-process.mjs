import { pathToFileURL } from 'node:url'

/*
 * Writes a file, which is recorded, says so, and then runs a program in whose middle somebody will kill this process.
 * Arguments: the built library, a store, a mark for the processes of the sandbox, the options of the workspace as JSON.
 */
const [library = '', file = '', mark = '', workspace = ''] = process.argv.slice(2)
const load = (path) => import(pathToFileURL(`${library}/${path}`).href)
const { openRuntime, scriptedModel } = await load('src/index.js')
const { sqliteLog } = await load('src/log/sqlite/sqlite-log.js')

const script = `echo changed > a.txt; (setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' ${mark} &) ; sleep 60`
const write = { name: 'fs.write', arguments: { path: 'a.txt', contents: 'recorded\n' } }
const exec = { name: 'process.exec', arguments: { argv: ['sh', '-c', script, mark] } }
const model = scriptedModel({ name: 'doomed', turns: [[{ calls: [write] }, { calls: [exec] }, { text: 'Done.' }]] })
const runtime = await openRuntime({ log: sqliteLog(file), model, workspace: JSON.parse(workspace) })
const scope = { tenant: 't', user: 'u', session: 's' }
let started = 0
runtime.events(scope, { types: ['call.started'] }).subscribe(() => {
  started += 1
  if (started === 2) process.stdout.write('started\n')
})
await runtime.session(scope).start('work')
