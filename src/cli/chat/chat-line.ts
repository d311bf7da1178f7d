/** What a line says: words for a turn, or a command with the rest of the line. */
export type ChatLine =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'command'; readonly name: string; readonly rest: string }

/** A line that begins with a slash is a command; with two of them, words that begin with one. */
export function readLine(line: string): ChatLine {
  const text = line.trim()
  if (text === '') return { kind: 'nothing' }
  if (text.startsWith('//')) return { kind: 'words', text: text.slice(1) }
  const [, name, rest = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(text) ?? []
  return name === undefined ? { kind: 'words', text } : { kind: 'command', name: name.toLowerCase(), rest }
}

/** A number or a token in front of the rest, as in `/approve 2` and `/answer 2 the green one`. */
export function splitFirst(rest: string): { readonly first: string; readonly more: string } {
  const [, first = '', more = ''] = /^(\S*)\s*([\s\S]*)$/.exec(rest) ?? []
  return { first, more }
}
