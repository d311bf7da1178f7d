import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseFrontMatter } from '../../src/capabilities/front-matter.ts'
import { skillsFrom } from '../../src/capabilities/skill-folder.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skills-'))
})
afterEach(() => rmSync(root, { recursive: true }))

function write(folder: string, text: string): void {
  mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, folder, 'SKILL.md'), text)
}

describe('a folder of skills', () => {
  it('has one skill for each folder with a SKILL.md', () => {
    write('review', '---\nname: review\ndescription: How to review.\ntags: [code, care]\n---\n\nRead twice.\n')
    write('deploy', '---\ndescription: >\n  How to\n  deploy.\ndisable-model-invocation: true\n---\nSlowly.')
    mkdirSync(join(root, 'empty'))
    const skills = skillsFrom(root)
    expect(skills).toMatchObject([
      { name: 'deploy', description: 'How to deploy.', tags: [], body: 'Slowly.', disableModelInvocation: true },
      { name: 'review', description: 'How to review.', tags: ['code', 'care'], disableModelInvocation: false },
    ])
  })

  it('reads a skill again when it is asked to', () => {
    write('review', '---\ndescription: How to review.\n---\nRead twice.')
    const [skill] = skillsFrom(root)
    write('review', '---\ndescription: How to review.\n---\nRead once.')
    expect(skill?.reread?.()?.body).toBe('Read once.')
    rmSync(join(root, 'review', 'SKILL.md'))
    expect(skill?.reread?.()).toBeNull()
  })

  it('refuses what is not there, has no description or is too large', () => {
    expect(() => skillsFrom(join(root, 'nowhere'))).toThrow('cannot be read')
    write('bare', 'No head at all.')
    expect(() => skillsFrom(root)).toThrow('description')
    write('bare', `---\ndescription: Much.\n---\n${'x'.repeat(300_000)}`)
    expect(() => skillsFrom(root)).toThrow('larger than its bound')
  })
})

describe('front matter', () => {
  it('has plain and quoted values, lists of both kinds, and texts of several lines', () => {
    const head = [
      '---',
      'name: "a: b"',
      "other: 'it''s'",
      'tags:',
      '  - one',
      '- "two"',
      'text: |',
      '  first',
      '  second',
      'plain: value # why',
      '---',
      'Body: not a field',
    ].join('\r\n')
    expect(parseFrontMatter(head)).toEqual({
      fields: { name: 'a: b', other: "it's", tags: ['one', 'two'], text: 'first\nsecond', plain: 'value' },
      body: 'Body: not a field',
    })
  })

  it('is nothing where the text does not begin with it', () => {
    expect(parseFrontMatter('text\n---\nname: x\n---\n')).toEqual({ fields: {}, body: 'text\n---\nname: x\n---' })
    expect(parseFrontMatter('---\nname: x\n')).toEqual({ fields: {}, body: '---\nname: x' })
  })
})
