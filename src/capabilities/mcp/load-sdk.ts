import { LandfallError } from '../../facts/errors.ts'

/** The official SDK, which is not installed with us; loaded when the first server is bound. */
export type Sdk = Awaited<ReturnType<typeof loadParts>>

export async function loadSdk(): Promise<Sdk> {
  try {
    return await loadParts()
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const install = 'npm install @modelcontextprotocol/sdk@1'
    throw new LandfallError('INVALID_INPUT', `MCP servers need a package that is not installed: ${install}`, {
      details: { install },
    })
  }
}

async function loadParts() {
  const [{ Client }, { StreamableHTTPClientTransport, StreamableHTTPError }, types, { AjvJsonSchemaValidator }] =
    await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/types.js'),
      import('@modelcontextprotocol/sdk/validation/ajv'),
    ])
  return { Client, StreamableHTTPClientTransport, StreamableHTTPError, types, AjvJsonSchemaValidator }
}
