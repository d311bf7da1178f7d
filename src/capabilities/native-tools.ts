import { z } from 'zod'
import { limits } from '../facts/limits.ts'
import type { Scope } from '../facts/scope.ts'
import type { ReadableWorkspace } from '../workspace/workspace.ts'
import { defineTool, type ToolDefinition } from './define-tool.ts'

const path = z.string().min(1).max(limits.pathChars).describe('Relative to the root of the workspace; "." is the root.')
const place = z.number().int().nonnegative()

const readResult = z.strictObject({
  path: z.string(),
  text: z.string(),
  offset: place,
  bytes: place,
  size: place,
  next: place.optional(),
})

const listResult = z.strictObject({
  path: z.string(),
  entries: z.array(z.strictObject({ name: z.string(), type: z.enum(['file', 'directory', 'link', 'other']) })),
  unlisted: place,
})

/** The tools of the native registry that only read. Each session has its own workspace. */
export function nativeReadTools(workspaceOf: (scope: Scope) => ReadableWorkspace): readonly ToolDefinition[] {
  const read = defineTool({
    name: 'fs.read',
    description:
      'Reads a text file of the workspace. Large files are read in ranges: go on at "next" until it is absent.',
    tags: ['file', 'workspace'],
    input: z.strictObject({
      path,
      offset: place.optional().describe('First byte.'),
      length: z.number().int().positive().optional().describe('Most bytes.'),
    }),
    output: readResult,
    effect: 'read',
    subject: (args) => args.path,
    run: ({ path: file, offset, length }, { scope, signal }) => {
      signal.throwIfAborted()
      const range = { ...(offset === undefined ? {} : { offset }), ...(length === undefined ? {} : { length }) }
      return workspaceOf(scope).read(file, range)
    },
  })
  const list = defineTool({
    name: 'fs.list',
    description: 'Lists a folder of the workspace: names and types, sorted by name.',
    tags: ['file', 'workspace'],
    input: z.strictObject({ path }),
    output: listResult,
    effect: 'read',
    subject: (args) => args.path,
    run: (args, { scope, signal }) => {
      signal.throwIfAborted()
      return workspaceOf(scope).list(args.path)
    },
  })
  return [read, list]
}
