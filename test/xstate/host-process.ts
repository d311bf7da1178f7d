import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { assign, createActor, setup } from 'xstate'
import { type Outcome, openRuntime, scriptedModel } from '../../src/index.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { type TaskInput, taskLogic } from '../../src/xstate/public.ts'

const scope = { tenant: 'acme', user: 'ada', session: 'morning' }

export interface HostFiles {
  /** The store, and the host chart's persisted snapshot. */
  readonly store: string
  readonly snapshot: string
}

/**
 * A host application in a process of its own: a chart that invokes a durable task. It keeps its snapshot when `keep` says so, is
 * restored where there is one, and prints a line when the task is durable and one with the outcome.
 */
export async function runHost(
  files: HostFiles,
  how: { model: 'hangs' | 'answers'; keep: 'early' | 'late' },
): Promise<void> {
  const answer = how.model === 'hangs' ? { hang: true as const } : { text: 'Ordered.' }
  const runtime = await openRuntime({ log: sqliteLog(files.store), model: scriptedModel({ everyTurn: [answer] }) })
  const chart = setup({
    types: { context: {} as { outcome: Outcome | null } },
    actors: { work: taskLogic(runtime) },
  }).createMachine({
    id: 'host',
    context: { outcome: null },
    initial: 'working',
    states: {
      working: {
        invoke: {
          id: 'work',
          src: 'work',
          input: (): TaskInput => ({ scope, input: 'One tea, please.' }),
          onDone: { target: 'done', actions: assign({ outcome: ({ event }) => event.output }) },
        },
      },
      done: { type: 'final' },
    },
  })
  const kept = keptSnapshot(files.snapshot)
  const host = createActor(chart, kept === null ? {} : { snapshot: kept as never })
  const keep = () => {
    writeFileSync(`${files.snapshot}.new`, JSON.stringify(host.getPersistedSnapshot()))
    renameSync(`${files.snapshot}.new`, files.snapshot)
  }
  host.subscribe((snapshot) => {
    if (snapshot.status === 'done') {
      process.stdout.write(`${JSON.stringify(snapshot.context.outcome)}\n`)
      void runtime.close()
    }
  })
  host.start()
  if (kept === null && how.keep === 'early') keep()
  const task = await taskOf(host)
  if (how.keep === 'late') keep()
  process.stdout.write(`${task}\n`)
}

function keptSnapshot(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

interface Host {
  getSnapshot(): { readonly children: { readonly work?: unknown } }
}

async function taskOf(host: Host): Promise<string> {
  for (;;) {
    const work = host.getSnapshot().children.work as { getSnapshot(): { context: { task: string | null } } } | undefined
    const task = work?.getSnapshot().context.task ?? null
    if (task !== null) return task
    if (work === undefined) return 'ended'
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}
