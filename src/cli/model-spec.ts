import { usageError } from './usage-error.ts'

/** What `--model` names. */
export type ModelSpec =
  | { readonly kind: 'script'; readonly file: string }
  | { readonly kind: 'openai' | 'anthropic'; readonly id: string }
  | { readonly kind: 'openai-compatible'; readonly url: string; readonly id: string }

export const modelForms = 'script:FILE, openai:ID, anthropic:ID or openai-compatible:URL#ID'

export function modelSpecOf(text: string): ModelSpec {
  const at = text.indexOf(':')
  const kind = text.slice(0, Math.max(0, at))
  const rest = text.slice(at + 1)
  if (kind === 'script' && rest !== '') return { kind, file: rest }
  if ((kind === 'openai' || kind === 'anthropic') && rest !== '') return { kind, id: rest }
  if (kind === 'openai-compatible') return { kind, ...addressed(rest) }
  throw usageError(`--model takes ${modelForms}.`)
}

/** The address stands in facts as part of the model's name, so it must hold no credentials. */
function addressed(rest: string): { url: string; id: string } {
  const at = rest.indexOf('#')
  const url = URL.canParse(rest.slice(0, Math.max(0, at))) ? new URL(rest.slice(0, at)) : null
  const id = rest.slice(at + 1)
  if (url === null || !/^https?:$/.test(url.protocol) || id === '')
    throw usageError('--model openai-compatible: takes an http or https address, a # and the id of the model.')
  if (url.username !== '' || url.password !== '' || url.search !== '')
    throw usageError('The address of the model must hold no user, password or query. Put the key into the environment.')
  return { url: rest.slice(0, at), id }
}
