import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isModelError } from '../../src/facts/ports.ts'
import { aiSdkModel } from '../../src/models/ai-sdk/ai-sdk-model.ts'
import { type ToolNameRules, toolAliases } from '../../src/models/tool-aliases.ts'
import { ask } from './wire/ask.ts'
import { serving, streamed } from './wire/provider-server.ts'
import { wires } from './wire/wires.ts'

const letters = 'abcdefghijklmnopqrstuvwxyz'
const common: ToolNameRules = { characters: `${letters}${letters.toUpperCase()}0123456789_-`, maxChars: 64 }
/** A provider that takes lower case and hyphens alone, and few of them. */
const narrow: ToolNameRules = { characters: `${letters}-`, maxChars: 12 }

function refusalOf(offered: readonly string[], rules: ToolNameRules) {
  try {
    toolAliases({ offered, earlier: [] }, rules)
  } catch (error) {
    if (isModelError(error)) return error
    throw error
  }
  return null
}

describe('aliases of tools', () => {
  it('stay within what each provider takes', () => {
    const offered = ['fs.read', 'web-search', 'a.b_c']
    const of = (rules: ToolNameRules) => {
      const aliases = toolAliases({ offered, earlier: [] }, rules)
      return offered.map((name) => aliases.aliasOf(name))
    }
    expect(of(common)).toEqual(['fs_read', 'web-search', 'a_b_c'])
    expect(of(narrow)).toEqual(['fs-read', 'web-search', 'a-b-c'])
  })

  it('that two tools would share are refused, and both are named', () => {
    for (const offered of [
      ['fs.read', 'fs_read'],
      ['fs_read', 'fs.read'],
    ]) {
      const refusal = refusalOf(offered, common)
      expect(refusal).toMatchObject({ code: 'MODEL_TOOL_NAME_COLLISION', retryable: false })
      expect(refusal?.reason).toContain("'fs.read'")
      expect(refusal?.reason).toContain("'fs_read'")
    }
    expect(refusalOf(['fs.read', 'fs_read'], { ...common, characters: `${common.characters}.` })).toBeNull()
  })

  it('that are too long are refused by name', () => {
    const name = `shop.${'x'.repeat(60)}`
    expect(refusalOf([name], common)).toMatchObject({ code: 'MODEL_TOOL_NAME_TOO_LONG', retryable: false })
    expect(refusalOf([name], common)?.reason).toContain(`'${name}'`)
    expect(refusalOf([name], { ...common, maxChars: 65 })).toBeNull()
  })

  it('of tools that are only remembered are made to fit', () => {
    const long = 'y'.repeat(90)
    const aliases = toolAliases({ offered: ['fs.read'], earlier: ['fs_read', 'fs-read', long, 'fs.read'] }, narrow)
    const names = ['fs.read', 'fs_read', 'fs-read', long]
    const made = names.map((name) => aliases.aliasOf(name))
    expect(new Set(made).size).toBe(4)
    expect(made.map((alias) => aliases.nameOf(alias))).toEqual(names)
  })

  it('lead back to their tools, and never to another one, whatever the names are', () => {
    const part = fc.string({ unit: fc.constantFrom(...'abAB01._-:é'), minLength: 1, maxLength: 16 })
    const rules = fc.record({
      characters: fc.uniqueArray(fc.constantFrom(...'abAB01._-'), { minLength: 2 }).map((all) => all.join('')),
      maxChars: fc.integer({ min: 3, max: 20 }),
    })
    const run = fc.property(fc.array(part), fc.array(part), rules, (offered, earlier, rule) => {
      const refusal = refusalOf(offered, rule)
      if (refusal !== null) {
        expect(offered.some((name) => refusal.message.includes(`'${name}'`))).toBe(true)
        return
      }
      const aliases = toolAliases({ offered, earlier }, rule)
      const names = [...new Set([...offered, ...earlier])]
      const made = names.map((name) => aliases.aliasOf(name))
      expect(new Set(made).size).toBe(names.length)
      for (const [at, alias] of made.entries()) {
        expect(aliases.nameOf(alias)).toBe(names[at])
        expect(alias.length).toBeLessThanOrEqual(rule.maxChars)
        for (const character of alias) expect(rule.characters).toContain(character)
      }
    })
    fc.assert(run, { seed: 17, numRuns: 500 })
  })

  it('are refused before anything is sent', async () => {
    const [wire] = wires
    if (wire === undefined) throw new Error('there is no wire')
    const server = await serving(streamed(wire.body({ text: ['ok'] })))
    const tools = ['fs.list', 'fs_list'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }))
    const asked = ask(aiSdkModel(wire.model(server.url)), { tools })
    await expect(asked).rejects.toMatchObject({ code: 'MODEL_TOOL_NAME_COLLISION' })
    expect(server.received).toEqual([])
    const toolNames = { characters: `${common.characters}.`, maxChars: 64 }
    await ask(aiSdkModel(wire.model(server.url), { toolNames }), { tools })
    expect(wire.toolNames(server.received[0]?.body ?? {})).toEqual(['fs.list', 'fs_list'])
  })
})
