import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Catalog } from '../../src/capabilities/catalog.ts'
import { defineSkill } from '../../src/capabilities/define-skill.ts'
import { skillsFrom } from '../../src/capabilities/skill-folder.ts'
import { askedSkills } from '../../src/runtime/asked-skills.ts'
import { refusal } from '../runtime/kit/check.ts'
import { factsOf, lastResult, rigWith, verifyAll } from './kit.ts'

const review = defineSkill({ name: 'review', description: 'How to review.', body: 'Read everything twice.' })
const quiet = defineSkill({
  name: 'quiet',
  description: 'Of the operator alone.',
  body: 'Say little.',
  disableModelInvocation: true,
})

describe('a skill that the model activates', () => {
  it('is in the next request, and leaves after one answer', async () => {
    const rig = await rigWith([review], { system: 'Be brief.' })
    await rig.session.start('review it')
    ;(await rig.model.next()).calls(['skills_activate', { name: 'review' }])
    const second = await rig.model.next()
    expect(second.request.system).toBe('Be brief.\n\n# skill:review\n\nRead everything twice.')
    second.calls(['capabilities_list'])
    const third = await rig.model.next()
    expect(third.request.system).toBe('Be brief.')
    expect((await factsOf(rig, 'capability.activated')).map(({ data }) => data.scope)).toEqual(['step'])
    expect((await factsOf(rig, 'capability.released')).map(({ data }) => data.ref.id)).toEqual(['skill:review'])
    await verifyAll(rig)
  })

  it('is still there when the request is asked again after a crash', async () => {
    const rig = await rigWith([review])
    await rig.session.start('review it')
    ;(await rig.model.next()).calls(['skills_activate', { name: 'skill:review' }])
    const second = await rig.model.next()
    await rig.crashAndReopen({ catalog: [review] })
    const again = await rig.model.next()
    expect(again.request.system).toBe(second.request.system)
    await verifyAll(rig)
  })

  it('is not one that only an operator may activate, nor a tool, and no tool itself', async () => {
    const rig = await rigWith([review, quiet])
    await rig.session.start('be quiet', { skills: ['review'] })
    ;(await rig.model.next()).calls(['skills_activate', { name: 'quiet' }])
    await rig.time.settle()
    expect(await lastResult(rig)).toMatchObject({ error: { code: 'NOT_FOUND' } })
    ;(await rig.model.next()).calls(['review'], ['quiet'], ['tools_load', { names: ['review'] }])
    await rig.time.settle()
    expect(await lastResult(rig)).toMatchObject({ refused: [{ code: 'CAPABILITY_NOT_EXECUTABLE' }] })
    expect((await factsOf(rig, 'call.refused')).map(({ data }) => data.code)).toEqual([
      'CAPABILITY_NOT_EXECUTABLE',
      'CAPABILITY_NOT_LOADED',
    ])
    await verifyAll(rig)
  })
})

describe('a skill that the operator activates', () => {
  it('stays until the task ends, named by the command or by a token of the input', async () => {
    const rig = await rigWith([review, quiet])
    await rig.session.start('please /quiet look at /unheard-of things', { skills: ['review'] })
    const first = await rig.model.next()
    expect(first.lastMessage?.content).toBe('please look at /unheard-of things')
    expect(first.request.system).toBe('# skill:review\n\nRead everything twice.\n\n# skill:quiet\n\nSay little.')
    first.calls(['capabilities_list'])
    const second = await rig.model.next()
    expect(second.request.system).toBe(first.request.system)
    second.text('looked')
    await rig.time.settle()
    await rig.session.start('and now without')
    expect((await rig.model.next()).request.system).toBe('')
    await verifyAll(rig)
  })

  it('that has no room is skipped, and the model is told', async () => {
    const large = defineSkill({ name: 'large', description: 'Much.', body: 'x'.repeat(9_000) })
    const rig = await rigWith([large, review], {
      context: { windowTokens: 8_000, reserveTokens: 1_000, thresholdTokens: 7_000 },
    })
    await rig.session.start('go', { skills: ['large', 'review'] })
    const { request } = await rig.model.next()
    expect(request.system).toContain('Read everything twice.')
    expect(request.messages.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(request.messages[0]?.content).toMatch(
      /skill:large \(CAPABILITY_DOES_NOT_FIT: needs \d+ with a margin of 512, and \d+ is the ceiling\)/,
    )
    const [skipped] = await factsOf(rig, 'capability.skipped')
    expect(skipped?.data).toMatchObject({
      id: 'skill:large',
      code: 'CAPABILITY_DOES_NOT_FIT',
      ceiling: 7_000,
      margin: 512,
    })
    await verifyAll(rig)
  })

  it('is refused with the command where no skill has the name', async () => {
    const rig = await rigWith([review])
    expect(await refusal(rig.session.start('go', { skills: ['reviews'] }))).toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('of a follow-up is activated when that starts, and a replacement may name others', async () => {
    const rig = await rigWith([review, quiet])
    await rig.session.start('first')
    const second = await rig.session.followUp('second /review')
    await rig.session.replace(second.id, 'second after all /quiet')
    ;(await rig.model.next()).text('done')
    const { request } = await rig.model.next()
    expect(request.system).toBe('# skill:quiet\n\nSay little.')
    expect(request.messages.at(-1)?.content).toBe('second after all')
    await verifyAll(rig)
  })
})

it('a skill whose file has changed since is not activated', async () => {
  const root = mkdtempSync(join(tmpdir(), 'skills-'))
  const write = (body: string) => {
    mkdirSync(join(root, 'care'), { recursive: true })
    writeFileSync(join(root, 'care', 'SKILL.md'), `---\ndescription: How to care.\n---\n${body}`)
  }
  write('Gently.')
  const rig = await rigWith(skillsFrom(root))
  await rig.session.start('take care')
  write('Roughly.')
  ;(await rig.model.next()).calls(['skills_activate', { name: 'care' }])
  await rig.time.settle()
  expect(await lastResult(rig)).toMatchObject({ error: { id: 'skill:care', code: 'STALE_CAPABILITY' } })
  write('Gently.')
  ;(await rig.model.next()).calls(['skills_activate', { name: 'care' }])
  expect((await rig.model.next()).request.system).toContain('Gently.')
  await verifyAll(rig)
  rmSync(root, { recursive: true })
})

describe('tokens of an input', () => {
  const catalog = new Catalog([review, quiet])
  const asked = (input: string) => askedSkills(catalog, input, [])

  it('stand at the boundary of a word', () => {
    expect(asked('/review this')).toEqual({ text: 'this', skills: ['review'] })
    expect(asked('this needs /review.')).toEqual({ text: 'this needs .', skills: ['review'] })
    expect(asked('both /review /quiet and /review')).toEqual({ text: 'both and', skills: ['review', 'quiet'] })
    for (const text of ['a path/review here', 'see /review/more', '/reviews', 'and/or', '  two  spaces ', '//review'])
      expect(asked(text)).toEqual({ text, skills: [] })
  })

  it('stay where nothing else is said', () => {
    expect(asked('/review')).toEqual({ text: '/review', skills: ['review'] })
  })
})
