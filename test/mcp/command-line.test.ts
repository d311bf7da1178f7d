import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { landfallProcess, start, workFolder } from '../cli/cli-process.ts'
import { isGone, mcpServer } from './kit/test-server.ts'

// Every command is a process of its own, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const library = new URL('../../dist/src/capabilities/mcp/mcp-provider.js', import.meta.url).href
const program = fileURLToPath(new URL('kit/server.mjs', import.meta.url))

/** A tools file whose default export is one MCP server, and a script that calls a tool of it. */
async function withTools(call: object) {
  const cwd = workFolder()
  const { folder, happened } = await mcpServer('stdio')
  const command = JSON.stringify([process.execPath, program, folder])
  const tools = `import { mcpProvider } from '${library}'
    export default [mcpProvider({ name: 'here', command: ${command}, trust: 'operator' })]`
  writeFileSync(join(cwd, 'tools.mjs'), tools)
  writeFileSync(join(cwd, 'call.json'), JSON.stringify({ everyTurn: [{ calls: [call] }, { text: '{{last}}' }] }))
  return { cwd, happened, words: ['--model', 'script:call.json', '--tools', 'tools.mjs'] }
}

it('a server of the tools file is used by a command, and its process ends with it', async () => {
  const { cwd, words, happened } = await withTools({ name: 'mcp:here:pid', arguments: {} })
  const { code, out, err } = await landfallProcess(['run', 'go', ...words], { cwd })
  expect(code).toBe(0)
  expect(err).toContain('mcp:here:pid succeeded')
  await expect.poll(() => out.trim().split(' ').map(Number).map(isGone)).toEqual([true, true])
  expect((await landfallProcess(['verify', '--all'], { cwd })).code).toBe(0)
  // A command that works on nothing starts no server.
  const started = happened().length
  expect((await landfallProcess(['cancel', '--tools', 'tools.mjs'], { cwd })).code).toBe(3)
  expect(happened()).toHaveLength(started)
})

it('a command that is killed takes the server with it', async () => {
  const { cwd, words, happened } = await withTools({ name: 'mcp:here:linger_reading', arguments: {} })
  const running = start(['run', 'go', ...words], { cwd })
  await running.shows('mcp:here:linger_reading ...')
  await expect.poll(happened).toContain('lingering')
  const [, pid = ''] = happened()[0]?.split(' ') ?? []
  process.kill(Number(pid), 0)
  running.process.kill('SIGKILL')
  await running.ended
  await expect.poll(() => isGone(Number(pid)), { timeout: 20_000 }).toBe(true)
})
