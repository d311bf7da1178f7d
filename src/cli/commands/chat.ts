import { createInterface, type Interface } from 'node:readline'
import { chatCommand } from '../chat/chat-commands.ts'
import { readLine } from '../chat/chat-line.ts'
import { ChatOutput } from '../chat/chat-output.ts'
import { ChatPauses } from '../chat/chat-pauses.ts'
import { ChatScreen } from '../chat/chat-screen.ts'
import { ChatWatch } from '../chat/chat-watch.ts'
import type { CliContext } from '../cli-context.ts'
import { exitCodeOf, exitCodeOfStatus, exitCodes } from '../exit-codes.ts'
import { finishWork } from '../finish-work.ts'
import { type OpenSession, openSession } from '../open-session.ts'
import { TurnProgress } from '../turn-progress.ts'

/**
 * A session at the terminal: lines are turns and commands, while it works. At the end of the input what is at work is waited
 * for. The exit code is that of the last turn where the lines come from a program, and 0 where somebody types.
 */
export async function chat(context: CliContext): Promise<number> {
  const screen = new ChatScreen()
  const output = new ChatOutput(context.settings, screen)
  const open = await openSession(context)
  const progress = new TurnProgress(open.runtime, open.scope, output)
  const pauses = new ChatPauses(open.session)
  const watch = new ChatWatch(open, output, pauses)
  const lines = createInterface({
    input: process.stdin,
    ...(screen.interactive ? { output: process.stdout, terminal: true, prompt: '> ' } : { terminal: false }),
  })
  // From now on, because lines that nobody listens to are gone.
  const incoming = lines[Symbol.asyncIterator]()
  screen.attach(lines)
  const releases: (() => void)[] = []
  try {
    await watch.begin()
    const talk = { open, output, pauses, screen, lines, incoming }
    const heard = { left: false }
    const leave = () => {
      heard.left = true
      lines.close()
    }
    releases.push(onInterrupt(talk, leave))
    const refused = await listen(talk, heard, leave)
    if (!heard.left) await finishWork(open, progress)
    await watch.caughtUp()
    if (screen.interactive) return exitCodes.done
    const code = watch.lastStatus === null ? exitCodes.done : exitCodeOfStatus(watch.lastStatus)
    return code === exitCodes.done && refused !== null ? exitCodeOf(refused) : code
  } finally {
    lines.close()
    for (const release of releases) release()
    screen.detach()
    progress.stop()
    await watch.end()
    await open.close()
  }
}

interface Talk {
  readonly open: OpenSession
  readonly output: ChatOutput
  readonly pauses: ChatPauses
  readonly screen: ChatScreen
  readonly lines: Interface
  readonly incoming: AsyncIterable<string>
}

/** Takes lines until there are no more. One after the other: a line is carried out when the one before it has its receipt. */
async function listen(talk: Talk, heard: { readonly left: boolean }, leave: () => void): Promise<unknown> {
  const { screen, output } = talk
  let refused: unknown = null
  if (screen.interactive) output.note('Say what is to be done. /help lists commands; Ctrl-C cancels, Ctrl-D ends.')
  let begun = ''
  const take = (line: string) =>
    carryOut(talk, line, leave).catch((error: unknown) => {
      refused ??= error
      output.error(error)
    })
  screen.prompt()
  for await (const line of talk.incoming) {
    // A line that ends in a backslash goes on.
    if (line.endsWith('\\')) {
      begun += `${line.slice(0, -1)}\n`
      continue
    }
    await take(begun + line)
    begun = ''
    if (heard.left) break
    screen.prompt()
  }
  // Nothing follows that it could go on with, but it was said.
  if (begun !== '' && !heard.left) await take(begun)
  return refused
}

async function carryOut({ open, output, pauses }: Talk, line: string, leave: () => void): Promise<void> {
  const { session } = open
  const said = readLine(line)
  if (said.kind === 'nothing') return
  const parts = { session, pauses, output, leave }
  const name = said.kind === 'words' ? 'queue' : said.name
  const done = chatCommand(name).run(parts, said.kind === 'words' ? said.text : said.rest)
  const receipt = await open.safely(done)
  if (receipt === null) return
  if (output.json) output.value({ type: 'receipt', name, ...receipt })
  else if (receipt.result !== 'applied' || said.kind === 'command') output.note(`${name}: ${receipt.result}`)
}

/**
 * The first Ctrl-C cancels what works, also while the end of it is waited for; the second one ends the process, and the log stays
 * as after any crash. With nothing at work it ends the chat. Gives what takes the handling back.
 */
function onInterrupt({ open, output, lines }: Talk, leave: () => void): () => void {
  let cancelled: string | null = null
  const interrupt = async () => {
    if (cancelled !== null) process.exit(exitCodes.cancelled)
    const active = (await open.session.tasks()).find(({ state }) => !['terminal', 'queued', 'blocked'].includes(state))
    if (active === undefined) return leave()
    cancelled = active.id
    output.note('cancelling; interrupt again to leave at once')
    await open.session.cancel({ task: active.id, reason: 'interrupted at the terminal' })
    await open.session.task(active.id).outcome()
    cancelled = null
  }
  const heard = () => void interrupt().catch(leave)
  lines.on('SIGINT', heard)
  process.on('SIGINT', heard)
  return () => process.off('SIGINT', heard)
}
