import type { CapabilityProvider } from '../capabilities/capability-provider.ts'
import type { ToolDefinition } from '../capabilities/define-tool.ts'
import { LandfallError } from '../facts/errors.ts'
import { importModule } from './import-module.ts'

/** The default export of a module: an array of tools and MCP servers. The module is code of the user and is trusted. */
export async function loadTools(file: string): Promise<readonly (ToolDefinition | CapabilityProvider)[]> {
  let module: { readonly default?: unknown }
  try {
    module = (await importModule(file)) as { readonly default?: unknown }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause)
    throw invalid(file, `The tools cannot be loaded: ${why}`, cause)
  }
  const { default: tools } = module
  if (!Array.isArray(tools) || !tools.every(isOffered))
    throw invalid(
      file,
      'The default export of the tools file is no array of what defineTool and mcpProvider give. Correct it.',
    )
  return tools
}

/** By shape: the module may have its own copy of the package. */
function isOffered(value: unknown): value is ToolDefinition | CapabilityProvider {
  if (typeof value !== 'object' || value === null) return false
  const { kind, name, run, provider, bind } = value as Readonly<Record<string, unknown>>
  if (kind === 'provider') return typeof provider === 'string' && typeof bind === 'function'
  return kind === 'tool' && typeof name === 'string' && typeof run === 'function'
}

function invalid(file: string, message: string, cause?: unknown): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { file }, cause })
}
