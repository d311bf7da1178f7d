import { describe, expect, it } from 'vitest'
import type { Grant } from '../../machines/vocabulary.ts'
import { quickTool, rigWith } from '../capabilities/kit.ts'
import { checkAll, refusal } from './kit/check.ts'
import { openRig } from './kit/rig.ts'

/** Names that every plain object answers to. */
const names = [...Object.getOwnPropertyNames(Object.prototype), 'prototype'].sort()
const grant: Grant = { level: 'inspect', confirm: 'each' }

describe('a name that every plain object answers to', () => {
  it.each(names)('is as unknown as any other one to every command that takes a name: %s', async (name) => {
    const rig = await rigWith([quickTool('look')])
    const { session } = rig
    const { id } = await session.start('look')
    const commands = (unknown: string): Readonly<Record<string, Promise<unknown>>> => ({
      supersede: session.supersede('x', { task: unknown }),
      spawnUnder: session.spawn('x', { parent: unknown }),
      spawnInto: session.spawn('x', { group: unknown }),
      seal: session.groupOf(unknown).seal(),
      cancelGroup: session.groupOf(unknown).cancel(),
      steer: session.steer('x', { task: unknown }),
      cancel: session.cancel({ task: unknown }),
      unblock: session.unblock(unknown),
      replace: session.replace(unknown, 'x'),
      reduceGrant: session.reduceGrant(id, unknown, grant),
      reduceGrantOf: session.reduceGrant(unknown, 'tool:look', grant),
      acknowledge: session.acknowledge([unknown]),
      memoryRemove: session.memory.remove(unknown),
      pause: session.pause({ task: unknown }),
      resume: session.resume(unknown, { decision: 'resume' }),
      confirm: session.confirm(unknown, 'allow'),
    })
    const codesOf = async (unknown: string) => {
      const refused = Object.entries(commands(unknown)).map(async ([command, sent]) => [command, await codeOf(sent)])
      return Object.fromEntries(await Promise.all(refused)) as Readonly<Record<string, string>>
    }
    const codes = await codesOf(name)
    expect(codes).toEqual(await codesOf('nope'))
    expect(Object.values(codes)).not.toContain('INTERNAL')
    expect(codes).toMatchObject({ reduceGrant: 'NOT_FOUND', resume: 'PAUSE_NOT_FOUND' })
    await checkAll(rig)
  })

  it.each(names.filter((name) => !name.startsWith('_')))('is asked about once as a tool, too: %s', async (name) => {
    const rig = await openRig({ tools: { [name]: { effect: 'mutate', confirm: 'once' } } })
    await rig.session.start('do it')
    ;(await rig.model.next()).calls([name])
    await rig.time.settle()
    expect((await rig.session.pauses()).map(({ reason }) => reason)).toEqual(['approval'])
    expect(rig.tool(name).calls).toEqual([])
    await checkAll(rig)
  })
})

async function codeOf(sent: Promise<unknown>): Promise<unknown> {
  return (await refusal(sent)).code
}
