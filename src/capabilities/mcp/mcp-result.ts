import { isDeepStrictEqual } from 'node:util'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { Effect } from '../../../machines/vocabulary.ts'
import { LandfallError } from '../../facts/errors.ts'

type Block = CallToolResult['content'][number]

export interface ResultOf {
  readonly effect: Effect
  /** Most bytes of what the model is shown. */
  readonly outputBytes: number
}

/** What a model is shown of a result: text, structured data, and notes on what is neither. */
export function readResult(result: CallToolResult, of: ResultOf): unknown {
  const lines = linesOf(result)
  const text = lines.join('\n')
  if (result.isError === true) throw toolError(text, of)
  const { structuredContent } = result
  const value =
    structuredContent === undefined
      ? text
      : lines.length === 0
        ? structuredContent
        : { text, structured: structuredContent }
  const bytes = Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value))
  return bytes <= of.outputBytes ? value : unusable(of, 'OUTPUT_LIMIT', 'is too large. Ask for less.')
}

/** A server that says that its tool failed is believed. */
export function toolError(text: string, { outputBytes }: ResultOf): LandfallError {
  if (Buffer.byteLength(text) > outputBytes)
    return new LandfallError('OUTPUT_LIMIT', 'The tool failed, and what it said of it is too large.', {
      details: { which: 'outputBytes', bound: outputBytes },
    })
  return new LandfallError('MCP_TOOL_ERROR', text === '' ? 'The tool failed.' : text)
}

/** A read is worth its result and failed without one; of any other tool the effect is there, and must not be tried again. */
export function unusable({ effect }: ResultOf, code: string, why: string): string {
  if (effect !== 'read') return `The tool succeeded: its effect stands. What it returned ${why} (${code})`
  throw new LandfallError(code, `The tool ended, but what it returned ${why}`)
}

/** Servers repeat structured content as a text, for clients that know no better; the model reads it once. */
function linesOf({ content, structuredContent }: CallToolResult): readonly string[] {
  return content
    .filter(
      (block) => block.type !== 'text' || structuredContent === undefined || !repeats(block.text, structuredContent),
    )
    .map(lineOf)
}

function repeats(text: string, structured: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), structured)
  } catch {
    return false
  }
}

function lineOf(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return notShown(block.type, block.mimeType, block.data)
    case 'resource_link':
      return `[resource ${block.uri}]`
    case 'resource': {
      const { resource } = block
      if ('text' in resource) return `[resource ${resource.uri}]\n${resource.text}`
      return notShown(`resource ${resource.uri}`, resource.mimeType ?? 'application/octet-stream', resource.blob)
    }
  }
}

function notShown(what: string, mimeType: string, base64: string): string {
  return `[${what}: ${mimeType}, ${Buffer.byteLength(base64, 'base64')} bytes, not shown]`
}
