import { z } from 'zod'
import { limits } from '../facts/limits.ts'
import type { Scope } from '../facts/scope.ts'
import { attestedMethods } from '../workspace/attestation.ts'
import type { ReadableWorkspace, Workspace } from '../workspace/workspace.ts'
import { defineTool, type ToolContext, type ToolDefinition } from './define-tool.ts'

const path = z.string().min(1).max(limits.pathChars).describe('Relative to the root of the workspace; "." is the root.')
const place = z.number().int().nonnegative()
const tags = ['file', 'workspace']

/** Gives a session its workspace, when a tool first needs it. */
export type WorkspaceOf<W> = (scope: Scope) => W | Promise<W>

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

/** The tools of the native registry that only read a folder. Each session has its own workspace. */
export function nativeReadTools(workspaceOf: WorkspaceOf<ReadableWorkspace>): readonly ToolDefinition[] {
  const read = defineTool({
    name: 'fs.read',
    description:
      'Reads a text file of the workspace. Large files are read in ranges: go on at "next" until it is absent.',
    tags,
    input: z.strictObject({
      path,
      offset: place.optional().describe('First byte.'),
      length: z.number().int().positive().optional().describe('Most bytes.'),
    }),
    output: readResult,
    effect: 'read',
    subject: (args) => args.path,
    run: async ({ path: file, offset, length }, context) => {
      const range = { ...(offset === undefined ? {} : { offset }), ...(length === undefined ? {} : { length }) }
      return (await opened(workspaceOf, context)).read(file, range)
    },
  })
  const list = defineTool({
    name: 'fs.list',
    description: 'Lists a folder of the workspace: names and types, sorted by name.',
    tags,
    input: z.strictObject({ path }),
    output: listResult,
    effect: 'read',
    subject: (args) => args.path,
    run: async (args, context) => (await opened(workspaceOf, context)).list(args.path),
  })
  return [read, list]
}

/** The native registry: exactly five tools. What changes anything needs an attested workspace, which is looked at directly before. */
export function nativeTools(workspaceOf: WorkspaceOf<Workspace>): readonly ToolDefinition[] {
  return [...nativeReadTools(workspaceOf), writeTool(workspaceOf), execTool(workspaceOf), diffTool(workspaceOf)]
}

function writeTool(workspaceOf: WorkspaceOf<Workspace>): ToolDefinition {
  return defineTool({
    name: 'fs.write',
    description: 'Writes a text file of the workspace, a new one or in place of what it was. Folders come with it.',
    tags,
    input: z.strictObject({
      path,
      contents: z.string().max(limits.writeBytes).describe('The whole text of the file.'),
    }),
    output: z.strictObject({ path: z.string(), bytes: place, created: z.boolean() }),
    effect: 'mutate',
    subject: (args) => args.path,
    run: async (args, context) => {
      const workspace = await opened(workspaceOf, context)
      return attestedMethods(workspace).write(args.path, args.contents, { signal: context.signal })
    },
  })
}

/** The time of a program is bounded by the sandbox; this is for a sandbox that cannot be started or ended. */
const execMs = 2 * limits.processTimeoutMs

function execTool(workspaceOf: WorkspaceOf<Workspace>): ToolDefinition {
  return defineTool({
    name: 'process.exec',
    description:
      'Runs a program in the workspace, without a shell and without network, and gives its output. What it changes below the workspace is kept when it ends, if it is text; links are not. Use /tmp for anything else.',
    tags: ['process', 'workspace'],
    input: z.strictObject({
      argv: z.array(z.string()).min(1).max(limits.argvItems).describe('The program and its words, one an item.'),
      cwd: path.optional().describe('Folder to run in; absent: the root.'),
      timeoutMs: z.number().int().min(1).max(limits.processTimeoutMs).optional(),
    }),
    output: z.strictObject({ exitCode: place, stdout: z.string(), stderr: z.string(), changed: place }),
    effect: 'mutate',
    timeoutMs: execMs,
    subject: (args) => args.argv.map(quotedWord).join(' '),
    run: async ({ argv, cwd, timeoutMs }, context) => {
      const workspace = await opened(workspaceOf, context)
      const more = { ...(cwd === undefined ? {} : { cwd }), ...(timeoutMs === undefined ? {} : { timeoutMs }) }
      return attestedMethods(workspace).exec({ argv, ...more }, { signal: context.signal })
    },
  })
}

function diffTool(workspaceOf: WorkspaceOf<Workspace>): ToolDefinition {
  return defineTool({
    name: 'git.diff',
    description:
      'Shows what changed in the workspace since the session began, as a patch. No Git repository is needed.',
    tags,
    input: z.strictObject({}),
    output: z.strictObject({ diff: z.string(), files: place }),
    effect: 'read',
    run: async (_args, context) => (await opened(workspaceOf, context)).diff(),
  })
}

async function opened<W>(workspaceOf: WorkspaceOf<W>, { scope, signal }: ToolContext): Promise<W> {
  signal.throwIfAborted()
  const workspace = await workspaceOf(scope)
  signal.throwIfAborted()
  return workspace
}

/** As a person would type it into a shell. */
function quotedWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
