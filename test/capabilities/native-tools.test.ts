import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toolContract } from '../../src/capabilities/define-tool.ts'
import { nativeReadTools } from '../../src/capabilities/native-tools.ts'
import { checkArguments } from '../../src/capabilities/tool-schema.ts'
import { localWorkspace } from '../../src/workspace/local-workspace.ts'
import { toolContext } from './tool-context.ts'

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'landfall-native-'))
  writeFileSync(join(root, 'a.txt'), 'hello')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function call(name: string, args: unknown, signal?: AbortSignal): Promise<unknown> {
  const sessions: string[] = []
  const tools = nativeReadTools((scope) => {
    sessions.push(scope.session)
    return localWorkspace(root)
  })
  const tool = tools.find((candidate) => candidate.name === name)
  if (!tool) throw new Error(`no tool ${name}`)
  const result = await tool.run(args, toolContext(signal ? { signal } : {}))
  expect(sessions).toEqual(['s'])
  if (tool.output) checkArguments(tool.output, result)
  return result
}

describe('the reading tools', () => {
  const tools = nativeReadTools(() => localWorkspace(root))

  it('are exactly these, and only read', () => {
    expect(tools.map(({ name, effect }) => [name, effect])).toEqual([
      ['fs.read', 'read'],
      ['fs.list', 'read'],
    ])
    for (const tool of tools)
      expect(toolContract(tool).input).toMatchObject({ type: 'object', additionalProperties: false })
    expect(tools.map((tool) => tool.subject?.({ path: 'a.txt' }))).toEqual(['a.txt', 'a.txt'])
  })

  it('read and list the workspace of the session', async () => {
    expect(await call('fs.read', { path: 'a.txt', offset: 1, length: 2 })).toMatchObject({
      text: 'el',
      next: 3,
      size: 5,
    })
    expect(await call('fs.read', { path: 'a.txt' })).toMatchObject({ text: 'hello' })
    expect(await call('fs.list', { path: '.' })).toMatchObject({ entries: [{ name: 'a.txt', type: 'file' }] })
  })

  it.each<[string, unknown]>([
    ['fs.read', {}],
    ['fs.read', 'a.txt'],
    ['fs.read', { path: 'a.txt', encoding: 'utf8' }],
    ['fs.read', { path: ['a.txt'] }],
    ['fs.read', { path: 'a.txt', offset: -1 }],
    ['fs.read', { path: 'a.txt', length: '5' }],
    ['fs.list', { path: '.', recursive: true }],
    ['fs.list', { path: '' }],
  ])('%s refuses the arguments %j', async (name, args) => {
    await expect(call(name, args)).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' })
  })

  it('refuse paths that lead out, and stop when aborted', async () => {
    await expect(call('fs.read', { path: '../x' })).rejects.toMatchObject({ code: 'WORKSPACE_PATH' })
    await expect(call('fs.list', { path: '/' })).rejects.toMatchObject({ code: 'WORKSPACE_PATH' })
    const tool = tools[0]
    await expect(tool?.run({ path: 'a.txt' }, toolContext({ signal: AbortSignal.abort('enough') }))).rejects.toBe(
      'enough',
    )
  })
})
