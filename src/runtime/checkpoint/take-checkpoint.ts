import type { ContentAt } from '../../../machines/content-at.ts'
import { viewOf } from '../../../machines/message-reducers.ts'
import { isMessage } from '../../../machines/view.ts'
import type { World } from '../../../machines/world.ts'
import { LandfallError } from '../../facts/errors.ts'
import type { Scope } from '../../facts/scope.ts'
import { Bodies } from '../bodies.ts'
import { buildDesk } from '../desk-builder.ts'
import { needed } from '../expand-messages.ts'
import { followView } from '../lane.ts'
import { type Loaded, loadNewest, loadWorld } from '../load-world.ts'
import type { Host } from '../options.ts'
import { requestOf } from '../request-of.ts'
import { prefixOf, summaryMessages, summaryRequestOf } from '../summary-request.ts'
import type { Checkpoint } from './checkpoint-schema.ts'
import { makeCheckpoint } from './make-checkpoint.ts'
import { parseCheckpoint } from './parse-checkpoint.ts'

type CheckpointHost = Pick<Host, 'log' | 'limits' | 'catalog'>

/** The checkpoint of a session as its log has it now, or had it at a fact. Reads alone; what is not yet durable is not in it. */
export async function takeCheckpoint(host: CheckpointHost, scope: Scope, at?: number): Promise<Checkpoint> {
  const { log, limits } = host
  const loaded = await load(host, scope, at)
  const { world, hash } = loaded
  const key = (await log.head(scope))?.key
  if (key === undefined || world.session?.matches({ lifecycle: 'erased' }) === true)
    throw new LandfallError('SESSION_ERASED', 'The content of this session was erased; no checkpoint is left of it.')
  if (world.session?.context.restoring != null)
    throw new LandfallError(
      'SESSION_RESTORING',
      'A restore of this session was cut off. Restore the same checkpoint again.',
    )
  const bodies = await Bodies.hydrate(world, log, scope)
  const observed = viewOf(world, world.session?.context.active ?? '').entries.filter(
    (entry) => isMessage(entry) && entry.observed,
  )
  const wholes = await bodiesOf(
    host,
    scope,
    observed.filter(isMessage).map((entry) => [entry.id, entry]),
  )
  const keys = await bodiesOf(
    host,
    scope,
    [...world.memory].map(([digest, { step }]) => [digest, { digest, step }]),
  )
  const next = nextOf(host, world, bodies, key)
  const checkpoint = makeCheckpoint({ scope, world, bodies, wholes, keys, hash, limits, next })
  // What nobody could restore is never handed out.
  parseCheckpoint(checkpoint, limits)
  return checkpoint
}

async function load({ log }: CheckpointHost, scope: Scope, at: number | undefined): Promise<Loaded> {
  if (at !== undefined && (!Number.isSafeInteger(at) || at < 1))
    throw new LandfallError('INVALID_INPUT', 'at is a seq: a whole number of at least 1.', { details: { field: 'at' } })
  const loaded = at === undefined ? await loadNewest(log, scope) : await loadWorld(log, scope, at)
  if (loaded.world.session === null || loaded.world.seq < (at ?? 1))
    throw new LandfallError('NOT_FOUND', 'There is no such session, or it has no such fact yet.', {
      details: { session: scope.session, ...(at === undefined ? {} : { at }) },
    })
  return loaded
}

async function bodiesOf(
  { log }: CheckpointHost,
  scope: Scope,
  places: readonly (readonly [id: string, at: ContentAt])[],
): Promise<ReadonlyMap<string, string>> {
  const refs = places.map(([, { digest, step }]) => ({ digest, step }))
  const found = await log.content(scope, refs)
  return new Map(places.map(([id], index) => [id, needed(found[index], 'content')]))
}

/** The request that is in flight, detached; or how the newest turn ended. */
function nextOf(host: CheckpointHost, world: World, bodies: Bodies, key: string): Checkpoint['next'] {
  const session = needed(world.session, 'session').context
  const { active, last } = session
  if (active === null) {
    if (last === null || last.status === null) return { nothing: true }
    return { terminal: { task: last.task, status: last.status } }
  }
  const context = world.tasks.get(active)?.context
  const record = world.taskRecords.get(active)
  const reserved = world.reserved.get(active)
  if (context?.request == null || record?.started == null || reserved === undefined) return { nothing: true }
  const { maxOutput } = reserved
  const { step } = context
  if (context.request.purpose === 'summary') {
    const messages = summaryMessages(bodies, prefixOf(world, active))
    return { request: detached(summaryRequestOf(messages, { maxOutput, step, turn: record.turn })) }
  }
  const desk = buildDesk({ host, world, bodies, key }, record)
  followView(world, bodies, desk)
  return { request: detached(requestOf(desk, { maxOutput, step, purpose: 'turn' }, record.started, record.turn)) }
}

function detached<T>(value: T): Extract<Checkpoint['next'], { request: unknown }>['request'] {
  return JSON.parse(JSON.stringify(value))
}
