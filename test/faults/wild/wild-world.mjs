import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

/*
 * A model, tools and operators that do what they like, by a seed. Plain JavaScript, because a process that is to be killed must
 * start fast, without a compiler; the library comes as an argument, built or not.
 */

/** The same numbers for the same seed. */
export function seeded(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}

function oneOf(random, list) {
  return list[Math.floor(random() * list.length)]
}

/** Answers after a while: with calls of random tools, or for good; a calm one only for good. */
export function wildModel(random, isCalm) {
  let made = 0
  return {
    name: 'wild',
    async *request({ step }) {
      await sleep(random() * 12)
      if (isCalm() || step > 5 || random() < 0.3) {
        yield { type: 'text', text: 'This is the answer.' }
        yield { type: 'finish', reason: 'stop', usage: { input: 20, output: 5 } }
        return
      }
      const count = 1 + Math.floor(random() * 3)
      for (let at = 0; at < count; at += 1) {
        made += 1
        const name = oneOf(random, ['look', 'look', 'note', 'note', 'order', 'order', 'task_spawn', 'task_await'])
        yield { type: 'call', name, arguments: argumentsOf(random, name, made) }
      }
      yield { type: 'finish', reason: 'calls', usage: { input: 20, output: 15 } }
    },
  }
}

function argumentsOf(random, name, nth) {
  if (name === 'task_spawn') return { input: 'Do this meanwhile.', propagate: oneOf(random, ['cascade', 'isolate']) }
  if (name === 'task_await') return { waitMs: 1 + Math.floor(random() * 200) }
  return { nth: `${nth} of ${random()}` }
}

/** One call's course: it may throw, lose its line, hear its abort, or be deaf to it. */
async function course(lib, random, { signal }) {
  const fate = random()
  const ms = random() * 25
  if (fate < 0.1) return sleep(ms + 250)
  if (fate < 0.2) {
    await sleep(ms)
    throw new lib.OutcomeUnknownError('the line went dead')
  }
  if (fate < 0.3) {
    await sleep(ms)
    throw new Error('it went wrong')
  }
  await sleep(ms, undefined, { signal }).catch(() => {
    throw fate < 0.6 ? new Error('it was disturbed') : signal.reason
  })
}

/** `effect` hears of each effect before anything else can happen: which tool, which call, which attempt. */
export function wildTools(lib, random, effect) {
  const tool = (name, kind) =>
    lib.defineTool({
      name,
      description: `Does as it likes: ${name}.`,
      input: z.strictObject({ nth: z.string() }),
      effect: kind,
      run: async (_args, context) => {
        effect({ name, call: context.callId, attempt: context.attempt })
        await course(lib, random, context)
        return 'It was done.'
      },
    })
  return [tool('look', 'read'), tool('note', 'idempotent'), tool('order', 'mutate')]
}

const commands = [
  ['start', 4],
  ['followUp', 4],
  ['supersede', 3],
  ['steer', 6],
  ['cancel', 3],
  ['acknowledge', 3],
  ['unblock', 2],
  ['spawn', 4],
  ['cancelOne', 3],
]
const weighted = commands.flatMap(([name, weight]) => Array.from({ length: weight }, () => name))

/** A command as plain data, so that it can be sent again by another process. */
export async function wildCommand(session, random) {
  const name = oneOf(random, weighted)
  switch (name) {
    case 'start':
    case 'supersede':
      return { name, args: ['What is there to do?', {}] }
    case 'followUp':
      return { name, args: ['And then?', { requires: oneOf(random, ['none', 'success']) }] }
    case 'steer':
      return { name, args: ['Mind the gap.', { mode: oneOf(random, ['boundary', 'boundary', 'interrupt']) }] }
    case 'cancel':
      return { name, args: [{ steering: oneOf(random, ['inherit', 'expire']) }] }
    case 'acknowledge':
      return { name, args: ['all', {}] }
    case 'spawn': {
      const parent = await oneAtWork(session, random)
      const propagate = oneOf(random, ['cascade', 'isolate'])
      const key = random() < 0.3 ? { idempotencyKey: `key ${Math.floor(random() * 3)}` } : {}
      return { name, args: ['Do this beside.', { propagate, ...key, ...(parent === null ? {} : { parent }) }] }
    }
    case 'cancelOne': {
      const task = await oneAtWork(session, random)
      return task === null ? null : { name: 'cancel', args: [{ task }] }
    }
    default: {
      const blocked = (await session.tasks()).filter(({ state }) => state === 'blocked')
      return blocked.length === 0 ? null : { name, args: [blocked[0].id, {}] }
    }
  }
}

async function oneAtWork(session, random) {
  const found = (await session.tasks()).filter(({ state }) => state === 'running')
  return found.length === 0 ? null : oneOf(random, found).id
}

/** Sends it under an id; the receipt, or the code of the refusal. */
export async function send(session, { name, args }, commandId) {
  const options = { ...args.at(-1), commandId }
  try {
    const answer = await session[name](...args.slice(0, -1), options)
    return { receipt: answer.receipt ?? answer }
  } catch (error) {
    if (typeof error?.code !== 'string') throw error
    return { code: error.code }
  }
}

/** Brings a session to rest: everything that waits for an operator gets one, and when all has ended the session is closed. */
export async function settle(session, deadlineMs = 20_000) {
  const until = performance.now() + deadlineMs
  while (performance.now() < until) {
    const tasks = await session.tasks()
    if (tasks.every(({ state }) => state === 'terminal')) {
      await session.close()
      return
    }
    const { quarantined } = await session.state()
    if (quarantined.length > 0) await send(session, { name: 'acknowledge', args: ['all', {}] })
    for (const { id, state } of tasks) if (state === 'blocked') await send(session, { name: 'unblock', args: [id, {}] })
    await sleep(10)
  }
  throw new Error(`a session has not come to rest: ${JSON.stringify(await session.tasks())}`)
}
