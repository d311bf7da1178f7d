import { tokenPattern } from './token-forms.ts'

/**
 * What credentials look like inside text. Every pattern runs in linear time: it starts at a fixed word, may not start inside a
 * run that it would read to the end, and has no repetition within a repetition over the same characters.
 */
export const redacted = '[redacted]'

const words =
  'password|passwd|passphrase|pwd|secret|token|credentials?|cookie|authorization|auth' +
  '|(?:api|access|private|account|signing|encryption|shared[_-]?access|secret[_-]?access)[_-]?key' +
  '|shared[_-]?access[_-]?signature|connection[_-]?string'

/** A secret's name, as in `DB_PASSWORD`, with the quote that may close it. */
export const secretName = `(?:${words})(?:\\\\?["'])?`

const quoted = `"(?:[^"\\\\]|\\\\.)*"?|'(?:[^'\\\\]|\\\\.)*'?|\\\\"[^"\\\\]*(?:\\\\")?`
const scheme = '(?:(?:Bearer|Basic|Token|Digest)\\s{1,3})?'
/** After a colon, or with blanks, prose is likely: only what looks like a secret is one then. */
const suspicious = `${scheme}(?=[^\\s"'\\\\]{6})(?=[^\\s"'\\\\]{0,128}\\d)[^\\s"'\\\\,;&]{6,}`

const rules: readonly (readonly [RegExp, string])[] = [
  // All of a header that holds cookies, before anything in it is found: each of them may be the session's.
  [/\b(cookie\s{0,3}:\s{0,3})(?=[^\s=;"'\\]{1,64}=)(?:(?!\[redacted\])[^\r\n"'\\]){1,}/gi, `$1${redacted}`],
  [tokenPattern, redacted],
  [/(?<=hooks\.slack\.com\/[a-z]{1,20}\/)[\w/-]{8,}/g, redacted],
  [/(?<=discord(?:app)?\.com\/api\/webhooks\/\d{1,24}\/)[\w-]{8,}/g, redacted],
  [/(?<=api\.telegram\.org\/bot)\d{6,12}:[\w-]{20,}/g, redacted],
  [/(?<=webhook\.office\.com\/webhookb2\/)[\w@/-]{16,}/g, redacted],
  [/(?<=hooks\.zapier\.com\/hooks\/catch\/)[\w/-]{6,}/g, redacted],
  // Signed addresses are as good as the key that signed them, as long as they last.
  [/([?&](?:x-amz-|x-goog-)?(?:signature|sig)=)[\w%+/=.~-]{8,}/gi, `$1${redacted}`],
  [new RegExp(`(--${secretName}\\s{1,3})(?!-)[^\\s"'\\\\]{1,}`, 'gi'), `$1${redacted}`],
  // To the last @ before a slash or a blank, because a password may hold one.
  [/(:\/\/[^\s/:@"']{0,256}):[^\s/"']{1,512}@/g, `$1:${redacted}@`],
  [new RegExp(`(${secretName}\\s{0,3}[:=]\\s{0,3})(?:${quoted})`, 'gi'), `$1${redacted}`],
  [new RegExp(`(${secretName}=)${scheme}[^\\s"'\\\\,;&]{1,}`, 'gi'), `$1${redacted}`],
  [new RegExp(`(${secretName}\\s{0,3}[:=]\\s{0,3})${suspicious}`, 'gi'), `$1${redacted}`],
  // After the names: a name may follow the word, and must still be seen as one.
  [/\b(bearer\s{1,3})(?=[\w.~+/=-]{0,64}\d)[\w.~+/=-]{8,}/gi, `$1${redacted}`],
  [/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{200,}={0,2}/g, redacted],
  [/(?<![\w-])[\w-]{200,}={0,2}/g, redacted],
  [/(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{60,80}(?:\r?\n|\\n)){2,}[A-Za-z0-9+/]{0,80}={0,2}/g, redacted],
]

const keyBegin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
const keyEnd = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/

/** A key that never ends is withheld to the end of the text. */
function withoutKeys(text: string): string {
  let rest = text
  let clean = ''
  for (let begin = keyBegin.exec(rest); begin; begin = keyBegin.exec(rest)) {
    clean += `${rest.slice(0, begin.index)}${redacted}`
    rest = rest.slice(begin.index + begin[0].length)
    const end = keyEnd.exec(rest)
    if (!end) return clean
    rest = rest.slice(end.index + end[0].length)
  }
  return clean + rest
}

function once(text: string): string {
  let clean = text.includes('PRIVATE KEY') ? withoutKeys(text) : text
  for (const [pattern, replacement] of rules) clean = clean.replace(pattern, replacement)
  return clean
}

const mostPasses = 5

/** Repeated until nothing changes, so that redacting twice is redacting once. */
export function withoutCredentials(text: string): string {
  let clean = text
  for (let pass = 0; pass < mostPasses; pass++) {
    const next = once(clean)
    if (next === clean) return clean
    clean = next
  }
  throw new Error('redaction of a text does not come to rest')
}
