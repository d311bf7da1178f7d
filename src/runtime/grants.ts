import type { Grant } from '../../machines/vocabulary.ts'
import type { ToolDefinition } from '../capabilities/define-tool.ts'
import type { Host, PolicyQuestion } from './options.ts'

/** What the host's policy allows. A policy that throws denies; without one, host tools may execute as they declare. */
export function grantFor(host: Host, question: PolicyQuestion, tool: ToolDefinition): Grant {
  const confirm = tool.confirm ?? 'none'
  if (host.policy === null) return { level: 'execute', confirm }
  try {
    const granted = host.policy(question)
    return { level: granted.level, confirm: granted.confirm === 'none' ? confirm : granted.confirm }
  } catch {
    return { level: 'none', confirm }
  }
}
