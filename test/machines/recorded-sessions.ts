import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import type { StoredFact } from '../../src/facts/envelope.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { Session } from '../../src/runtime/session.ts'

const input = z.object({})
const tools = [
  defineTool({ name: 'look', description: 'Looks.', input, effect: 'read', run: async () => 'seen' }),
  defineTool({ name: 'put', description: 'Changes.', input, run: async () => 'done' }),
  defineTool({ name: 'ask', description: 'Changes, when allowed.', input, confirm: 'each', run: async () => 'done' }),
  defineTool({ name: 'deaf', description: 'Never comes back.', input, run: () => new Promise(() => {}) }),
]
const calls = (...names: string[]) => ({ text: '', calls: names.map((name) => ({ name, arguments: {} })) })
const model = scriptedModel({
  name: 'scripted',
  turns: [
    [calls('look', 'put', 'nope'), { text: 'one' }],
    [calls('ask', 'look'), { text: 'two' }],
    [calls('deaf', 'look')],
    [{ text: 'replacement' }],
    [calls('put', 'look'), { text: 'five' }],
    [{ error: { code: 'MODEL_FAILED', retryable: false } }],
  ],
  otherwise: { text: 'ok' },
})

/** Real logs with turns of many kinds: approvals, supersedes over a deaf call, quarantine, blocked follow-ups, steering, closing. */
export async function recordedSessions(): Promise<readonly (readonly StoredFact[])[]> {
  const runtime = await openRuntime({ log: memoryLog(), model, catalog: tools, limits: { graceMs: 0 } })
  const session = runtime.session({ tenant: 't', user: 'u', session: 's' })
  await (await session.start('first')).outcome()
  const second = await session.start('second')
  await session.steer('and this')
  await session.followUp('needs it', { requires: 'success' })
  await settleApprovals(session)
  await second.outcome()
  await untilIdle(session)
  const over = await session.supersede('instead', {})
  await over.outcome()
  await session.acknowledge('all').catch(() => {})
  const queued = await session.followUp('held')
  await session.cancel({ task: queued.id }).catch(() => {})
  await untilIdle(session)
  const failing = await session.start('fails').catch(() => null)
  await failing?.outcome()
  await session.close({ cancel: true })
  await session.reopen()
  await (await session.start('last')).outcome()
  const facts = await session.log()
  await runtime.close()
  return [facts]
}

async function settleApprovals(session: Session): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const [open] = await session.pauses()
    if (open !== undefined) return void (await session.confirm(open.token, 'allow'))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The deaf call of a follow-up is cancelled, so that the session comes to rest. */
async function untilIdle(session: Session): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const active = (await session.tasks()).filter((task) => task.state !== 'terminal')
    if (active.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 5))
    if (tries > 20) await session.cancel().catch(() => {})
  }
}
