import type { ModelMessage, ModelTool } from '../facts/ports.ts'

/**
 * Upper bound of what a request occupies: the UTF-8 bytes of its serialized parts, one byte counted as one token of the
 * window. It is no tokenizer. Parts are measured once and summed, so that a step costs what is new.
 */
export const occupancyAlgorithm = 'utf8-upper-bound/v1'

export function occupancyOfMessage(message: ModelMessage): number {
  return utf8Bytes(JSON.stringify(message)) + 1
}

export function occupancyOfTools(tools: readonly ModelTool[]): number {
  return tools.length === 0 ? 0 : utf8Bytes(JSON.stringify(tools))
}

export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}
