/**
 * What credentials look like inside text. Every pattern runs in linear time: it starts at a fixed word, may not start inside a
 * run that it would read to the end, and has no repetition within a repetition over the same characters.
 */
export const redacted = '[redacted]'

/** Self-describing credentials. None of them may begin in the middle of a longer run of the same characters. */
const tokens = [
  'sk-(?=[\\w-]{0,64}\\d)[\\w-]{16,}', // OpenAI, Anthropic and those who copied the form
  '[prs]k_(?:live|test)_[A-Za-z0-9]{10,}', // Stripe
  'whsec_[A-Za-z0-9+/=]{16,}',
  'gh[pousr]_[A-Za-z0-9]{20,}', // GitHub
  'github_pat_\\w{20,}',
  'gl(?:pat|dt|rt|ptt)-[\\w-]{16,}', // GitLab
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])', // AWS
  'xox[abeoprs]-[A-Za-z0-9-]{10,}', // Slack
  'xapp-[A-Za-z0-9-]{16,}',
  'AIza[\\w-]{30,}', // Google
  'ya29\\.[\\w-]{20,}',
  'GOCSPX-[\\w-]{20,}',
  'npm_[A-Za-z0-9]{30,}',
  'pypi-[\\w-]{32,}',
  'hf_[A-Za-z0-9]{30,}', // Hugging Face
  'SG\\.[\\w-]{16,}\\.[\\w-]{16,}', // SendGrid
  'SK[0-9a-f]{32}(?![A-Za-z0-9])', // Twilio
  'do[opr]_v1_[0-9a-f]{40,}', // DigitalOcean
  'dapi[0-9a-f]{32}', // Databricks
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{24,}', // Shopify
  'lin_api_[A-Za-z0-9]{24,}',
  'hv[bs]\\.[\\w-]{20,}', // Vault
  'AGE-SECRET-KEY-1[A-Z0-9]{40,}',
  'eyJ[\\w-]{5,}\\.[\\w-]{5,}(?:\\.[\\w-]*)*', // JSON Web Tokens
]

const tokenPattern = new RegExp(`(?<![\\w-])(?:${tokens.join('|')})`, 'g')

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
  [tokenPattern, redacted],
  [/(?<=hooks\.slack\.com\/[a-z]{1,20}\/)[\w/-]{8,}/g, redacted],
  [/(?<=discord(?:app)?\.com\/api\/webhooks\/\d{1,24}\/)[\w-]{8,}/g, redacted],
  [/(?<=api\.telegram\.org\/bot)\d{6,12}:[\w-]{20,}/g, redacted],
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
