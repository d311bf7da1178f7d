import { LandfallError } from '../../facts/errors.ts'
import type { Head, Log } from '../../facts/log-port.ts'
import type { Scope } from '../../facts/scope.ts'
import { defaultRedactor } from '../../redaction/default-redactor.ts'
import type { SessionEntry } from '../../runtime/list-sessions.ts'
import { loadNewest, loadWorld } from '../../runtime/load-world.ts'
import { openPauses, pausesOf } from '../../runtime/pause-view.ts'
import { callsOf, messagesOf } from '../../runtime/read-content.ts'
import { stateOf, type TaskView, tasksOf } from '../../runtime/state-view.ts'
import { patchAt } from '../../runtime/tree-store.ts'
import { type CliContext, scopeOf, textOption } from '../cli-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { withStore } from '../store-reader.ts'
import { usageError } from '../usage-error.ts'
import { wholeNumber } from '../whole-number.ts'

const headsPerPage = 500

export async function sessions({ settings, output }: CliContext): Promise<number> {
  const { tenant, user } = settings
  const entries = await withStore(settings.db, async (log) => {
    const found: SessionEntry[] = []
    for (let after: Scope | undefined; ; ) {
      const page = await log.heads({ tenant, user, limit: headsPerPage, ...(after === undefined ? {} : { after }) })
      found.push(...page.map(entryOf))
      after = page.at(-1)?.scope
      if (page.length < headsPerPage) return found
    }
  })
  output.result(entries, () => entries.map(entryText))
  return exitCodes.done
}

export async function show({ settings, output }: CliContext): Promise<number> {
  const scope = scopeOf(settings)
  const shown = await withStore(settings.db, async (log) => {
    const head = await known(log, scope)
    const { world } = await loadNewest(log, scope)
    const { queue, steering, budget, quarantined } = stateOf(world)
    const host = { log, redactor: defaultRedactor() }
    const pauses = await pausesOf(host, scope, openPauses(world))
    const calls = (await callsOf(host, scope, undefined)).length
    return { ...entryOf(head), quarantined, tasks: tasksOf(world), queue, steering, pauses, calls, budget }
  })
  output.result(shown, () => {
    const { budget, pauses, quarantined, steering, calls } = shown
    return [
      entryText({ ...shown, quarantined: quarantined.length }),
      ...shown.tasks.map(taskText),
      ...pauses.map(({ token, reason, task, call }) => `pause ${token} ${reason} task=${call ?? task}`),
      ...quarantined.map((call) => `quarantined ${call}`),
      `steering=${steering.length} calls=${calls} tokens=${budget.used}${budget.limit === null ? '' : ` of ${budget.limit}`}`,
    ]
  })
  return exitCodes.done
}

export async function tasks({ settings, output }: CliContext): Promise<number> {
  const found = await withStore(settings.db, async (log) => tasksOf((await loadNewest(log, scopeOf(settings))).world))
  output.result(found, () => found.map(taskText))
  return exitCodes.done
}

export async function messages(context: CliContext): Promise<number> {
  const { settings, output } = context
  const after = wholeNumber('--after', textOption(context, 'after'))
  const limit = wholeNumber('--limit', textOption(context, 'limit'), 1)
  const page = { ...(after === undefined ? {} : { after }), ...(limit === undefined ? {} : { limit }) }
  const { found, beside } = await withStore(settings.db, async (log) => {
    const { world } = await loadNewest(log, scopeOf(settings))
    const background = tasksOf(world).filter(({ kind }) => kind === 'background')
    return { found: await messagesOf(log, scopeOf(settings), page), beside: new Set(background.map(({ id }) => id)) }
  })
  // What a background task says is no part of the conversation between the lines of which it stands.
  output.result(found, () =>
    found.map(({ task, role, content, toolCalls }) => {
      const calls = (toolCalls ?? []).map(({ name, arguments: given }) => `\n  calls ${name} ${JSON.stringify(given)}`)
      const whose = beside.has(task) ? `background ${task} ` : ''
      return `${whose}${role}: ${content}${calls.join('')}`
    }),
  )
  return exitCodes.done
}

export async function replay(context: CliContext): Promise<number> {
  const { settings, output } = context
  const at = wholeNumber('--at', textOption(context, 'at'), 1)
  if (at === undefined) throw usageError('Say after which fact: --at SEQ.')
  const scope = scopeOf(settings)
  const state = await withStore(settings.db, async (log) => {
    await known(log, scope)
    const { world } = await loadWorld(log, scope, at)
    if (world.seq >= at) return stateOf(world)
    throw new LandfallError('NOT_FOUND', 'The session has no fact of this seq yet.', {
      details: { at, seq: world.seq },
    })
  })
  output.result(state, () => [JSON.stringify(state, null, 2)])
  return exitCodes.done
}

export async function patch({ settings, output }: CliContext): Promise<number> {
  const scope = scopeOf(settings)
  const text = await withStore(settings.db, async (log) => {
    await known(log, scope)
    return patchAt(log, scope, (await loadNewest(log, scope)).world)
  })
  output.result({ patch: text }, () => (text === '' ? [] : [text.replace(/\n$/, '')]))
  return exitCodes.done
}

async function known(log: Log, scope: Scope): Promise<Head> {
  const head = await log.head(scope)
  if (head !== null) return head
  throw new LandfallError('NOT_FOUND', 'This session was never opened. List those that were with landfall sessions.', {
    details: { session: scope.session },
  })
}

function entryOf(head: Head): SessionEntry {
  const { scope, summary, seq, updatedAt } = head
  return { ...scope, ...summary, seq, updatedAt }
}

function entryText({ session, state, title, active, queued, quarantined, seq, updatedAt }: SessionEntry): string {
  const marks = [`queued=${queued}`, `quarantined=${quarantined}`, `seq=${seq}`, updatedAt]
  if (active !== undefined) marks.unshift(`active=${active}`)
  return [session, state, ...marks, ...(title === undefined ? [] : [title])].join(' ')
}

function taskText(task: TaskView): string {
  const { id, kind, origin, state, status, requires, predecessor, parent, group, progress } = task
  const marks = [id, kind, origin, status ?? state]
  if (requires !== 'none') marks.push(`requires=${requires}${predecessor === undefined ? '' : ` of ${predecessor}`}`)
  if (parent !== undefined) marks.push(`parent=${parent}`)
  if (group !== undefined) marks.push(`group=${group}`)
  if (progress !== undefined) marks.push(`progress=${Math.round(progress.fraction * 100)}%`)
  return marks.join(' ')
}
