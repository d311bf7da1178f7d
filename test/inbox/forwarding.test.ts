import { describe, expect, it } from 'vitest'
import type { StoredFact } from '../../src/facts/envelope.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import { refusal } from '../runtime/kit/check.ts'
import { runtimesOn, scope, stores } from './kit/two-runtimes.ts'

const types = (facts: readonly StoredFact[]): string[] => facts.map((fact) => fact.type)

describe.each(stores)('a command to a session that another runtime owns, on one %s store', (_name, openStore) => {
  it('is carried out by the owner, in order, each once, with the receipts of the owner', async () => {
    const open = runtimesOn(openStore())
    const [owner, sender] = [await open(), await open()]
    const first = await owner.session(scope).start('the first')
    const theirs = sender.session(scope)
    const receipts = []
    for (let at = 1; at <= 5; at += 1) receipts.push(await theirs.steer(`steer ${at}`, { commandId: `steer-${at}` }))
    expect(receipts.map((receipt) => [receipt.result, receipt.task, receipt.command])).toEqual(
      receipts.map((_, at) => ['queued', first.id, `steer-${at + 1}`]),
    )
    const facts = await theirs.log()
    const accepted = facts.filter((fact) => fact.type === 'command.accepted')
    expect(accepted.map((fact) => fact.data.command)).toEqual(receipts.map((_, at) => `steer-${at + 1}`))
    expect(receipts.map((receipt) => receipt.seq)).toEqual(
      facts.filter((fact) => fact.type === 'steering.queued').map((fact) => fact.seq),
    )
    expect(new Set(facts.map((fact) => fact.owner.id)).size).toBe(1)
    expect((await theirs.cancel({ reason: 'enough' })).result).toBe('applied')
    expect((await owner.session(scope).task(first.id).outcome()).status).toBe('cancelled')
    expect((await theirs.task(first.id).outcome()).reason).toBe('enough')
    expect(checkLog(await theirs.log()).violations).toEqual([])
  })

  it('keeps the order of commands that are sent at once', async () => {
    const open = runtimesOn(openStore())
    const [owner, sender] = [await open(), await open()]
    await owner.session(scope).start('the first')
    const theirs = sender.session(scope)
    const names = Array.from({ length: 80 }, (_, at) => `c-${at}`)
    await Promise.all(names.map((commandId) => theirs.followUp(`do ${commandId}`, { commandId })))
    const accepted = (await theirs.log()).filter((fact) => fact.type === 'command.accepted')
    expect(accepted.map((fact) => fact.data.command)).toEqual(names)
    expect((await theirs.queue()).length).toBe(80)
  })

  it('that is repeated gives the first receipt as a duplicate, whoever sends it, and a conflict with another body', async () => {
    const open = runtimesOn(openStore())
    const [owner, sender, third] = [await open(), await open(), await open()]
    await owner.session(scope).start('the first')
    const receipt = await sender.session(scope).steer('left', { commandId: 'c-1' })
    for (const runtime of [sender, third, owner])
      expect(await runtime.session(scope).steer('left', { commandId: 'c-1' })).toEqual({
        ...receipt,
        result: 'duplicate',
      })
    for (const runtime of [sender, third, owner])
      expect(await refusal(runtime.session(scope).steer('right', { commandId: 'c-1' }))).toMatchObject({
        code: 'COMMAND_CONFLICT',
      })
    expect(types(await sender.session(scope).log()).filter((type) => type === 'steering.queued').length).toBe(1)
  })

  it('sent twice at the same moment is one', async () => {
    const open = runtimesOn(openStore())
    const [owner, sender, third] = [await open(), await open(), await open()]
    await owner.session(scope).start('the first')
    const both = await Promise.all(
      [sender, third].map((runtime) => runtime.session(scope).steer('left', { commandId: 'c-1' })),
    )
    expect(new Set(both.map((receipt) => receipt.seq)).size).toBe(1)
    expect(types(await sender.session(scope).log()).filter((type) => type === 'steering.queued').length).toBe(1)
  })

  it('that is refused is refused with its code and details, and the refusal is not remembered', async () => {
    const open = runtimesOn(openStore())
    const [owner, sender] = [await open(), await open()]
    const first = await owner.session(scope).start('the first')
    const theirs = sender.session(scope)
    const before = (await theirs.log()).length
    expect(await refusal(theirs.start('another', { commandId: 'c-1' }))).toMatchObject({
      code: 'SESSION_BUSY',
      details: { task: first.id, accepted: ['steer', 'followUp', 'supersede', 'cancel'] },
    })
    expect(await refusal(theirs.confirm('no-such-token', 'allow'))).toMatchObject({ code: 'PAUSE_NOT_FOUND' })
    expect(await refusal(theirs.acknowledge('all'))).toMatchObject({ code: 'NOT_QUARANTINED' })
    expect(await refusal(theirs.unblock('no-such-task'))).toMatchObject({ code: 'NOT_FOUND' })
    expect((await theirs.log()).length).toBe(before)
    await theirs.cancel()
    await owner.session(scope).task(first.id).outcome()
    const second = await theirs.start('another', { commandId: 'c-1' })
    expect(second.receipt?.result).toBe('applied')
  })

  it('reaches a pause, an erase and a reopen too', async () => {
    const open = runtimesOn(openStore())
    const [owner, sender] = [await open(), await open()]
    const first = await owner.session(scope).start('the first')
    const theirs = sender.session(scope)
    expect((await theirs.pause()).result).toBe('applied')
    const [pause] = await theirs.pauses()
    expect((await theirs.resume(pause?.token ?? '', { decision: 'reject' })).result).toBe('applied')
    expect(await owner.session(scope).task(first.id).outcome()).toMatchObject({ code: 'PAUSE_REJECTED' })
    await theirs.close()
    await theirs.reopen()
    const erased = await theirs.erase({ commandId: 'erase-it' })
    expect(erased.result).toBe('applied')
    expect(await theirs.erase({ commandId: 'erase-it' })).toMatchObject({ seq: erased.seq })
    expect(await refusal(theirs.start('again'))).toMatchObject({ code: 'SESSION_ERASED' })
    expect(checkLog(await theirs.log()).violations).toEqual([])
  })

  it('goes to the next owner when the owner lets go', async () => {
    const open = runtimesOn(openStore())
    const [owner, sender] = [await open(), await open()]
    await owner.session(scope).start('the first')
    await sender.session(scope).steer('left')
    await owner.close()
    expect((await sender.session(scope).steer('right')).result).toBe('queued')
    const facts = await sender.session(scope).log()
    expect(new Set(facts.map((fact) => fact.owner.epoch)).size).toBe(2)
    expect(checkLog(facts).violations).toEqual([])
  })
})
