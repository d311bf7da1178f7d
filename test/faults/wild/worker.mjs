import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { seeded, send, settle, wildCommand, wildModel, wildTools } from './wild-world.mjs'

/*
 * A process that works on a store until it is killed (`work`), or that brings every session to its end (`finish`).
 * Arguments: the mode, a directory, a seed, the built library. Effects and receipts go to files beside the store, each line written before anything
 * else can happen: what is in them has happened, whatever becomes of the process.
 */
const [mode = '', directory = '', seed = '1', library = ''] = process.argv.slice(2)
const lib = await import(pathToFileURL(join(library, 'src/index.js')).href)
const { sqliteLog } = await import(pathToFileURL(join(library, 'src/log/sqlite/sqlite-log.js')).href)
const random = seeded(Number(seed))
const receiptsFile = join(directory, 'receipts.jsonl')
const note = (file, line) => appendFileSync(join(directory, file), `${JSON.stringify(line)}\n`)

const log = sqliteLog(join(directory, 'store.db'))
const runtime = await lib.openRuntime({
  log,
  model: wildModel(random, () => mode === 'finish'),
  catalog: wildTools(lib, random, (effected) => note('effects.jsonl', effected)),
  limits: { graceMs: 40 },
})
const sessions = ['a', 'b', 'c', 'd'].map((session) => runtime.session({ tenant: 't', user: 'u', session }))

/** What an earlier process had a receipt for is sent again, and must come back as the same. */
async function repeatOld() {
  const lines = existsSync(receiptsFile) ? readFileSync(receiptsFile, 'utf8').trim().split('\n') : []
  for (const line of lines.slice(-3)) {
    const { session, command, id, receipt } = JSON.parse(line)
    const again = await send(runtime.session({ tenant: 't', user: 'u', session }), command, id)
    if (again.receipt?.result !== 'duplicate' || again.receipt.seq !== receipt.seq)
      note('broken.jsonl', { line, again })
  }
}

async function operate(session, lane) {
  for (let nth = 0; ; nth += 1) {
    await sleep(random() * 20)
    const command = await wildCommand(session, random)
    if (command === null) continue
    const id = `${seed}-${process.pid}-${lane}-${nth}`
    const { receipt, code } = await send(session, command, id)
    if (receipt !== undefined) {
      note('receipts.jsonl', { session: session.scope.session, command, id, receipt })
      process.stdout.write('receipt\n')
    } else if (code === 'INTERNAL') note('broken.jsonl', { command, code })
  }
}

if (mode === 'finish') {
  for (const session of sessions) if ((await session.tasks()).length > 0) await settle(session)
  await runtime.close()
  await log.close()
} else {
  await repeatOld()
  await Promise.all(sessions.map((session, lane) => operate(session, lane)))
}
