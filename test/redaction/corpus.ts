/**
 * Invented credentials in the forms that real ones have. They are put together here, so that no scanner takes this file
 * for a leak. Of each, `secret` is the part that must not get through.
 */
const digits = (count: number): string => '4839201756'.repeat(40).slice(0, count)
const mixed = (count: number): string => 'aZ3kQ9xL7mB2vN8cR5tY'.repeat(20).slice(0, count)
const hex = (count: number): string => 'a3f09c7be1d25846'.repeat(20).slice(0, count)
const join = (...parts: readonly string[]): string => parts.join('')

const jwt = join('eyJ', 'hbGciOiJIUzI1NiJ9', '.', 'eyJ', 'zdWIiOiIxMjM0In0', '.', mixed(43))
const keyBody = `${mixed(64)}\n${mixed(64)}\n${mixed(40)}==`
const pem = (kind: string): string => `-----BEGIN ${kind}PRIVATE KEY-----\n${keyBody}\n-----END ${kind}PRIVATE KEY-----`

export const secrets: readonly { readonly name: string; readonly text: string; readonly secret: string }[] = [
  ...[
    ['OpenAI', join('sk', '-', mixed(48))],
    ['OpenAI project', join('sk', '-proj-', mixed(30), '_', mixed(30))],
    ['Anthropic', join('sk', '-ant-api03-', mixed(60))],
    ['Stripe', join('sk', '_live_', mixed(24))],
    ['Stripe restricted', join('rk', '_test_', mixed(24))],
    ['Stripe webhook', join('whsec', '_', mixed(32))],
    ['GitHub', join('gh', 'p_', mixed(36))],
    ['GitHub fine-grained', join('github', '_pat_', mixed(22), '_', mixed(59))],
    ['GitLab', join('gl', 'pat-', mixed(20))],
    ['AWS key id', join('AK', 'IA', 'IOSFODNN7EXAMPLE')],
    ['Slack', join('xo', 'xb-', digits(12), '-', mixed(24))],
    ['Google', join('AI', 'za', mixed(35))],
    ['npm', join('np', 'm_', mixed(36))],
    ['PyPI', join('py', 'pi-', mixed(60))],
    ['Hugging Face', join('h', 'f_', mixed(34))],
    ['SendGrid', join('S', 'G.', mixed(22), '.', mixed(43))],
    ['Twilio', join('S', 'K', hex(32))],
    ['Databricks', join('da', 'pi', hex(32))],
    ['Vault', join('hv', 's.', mixed(24))],
    ['JSON Web Token', jwt],
    ['base64', mixed(240)],
  ].map(([name = '', secret = '']) => ({ name, text: secret, secret })),
  { name: 'RSA key', text: pem('RSA '), secret: keyBody },
  { name: 'key', text: pem(''), secret: keyBody },
  { name: 'OpenSSH key', text: pem('OPENSSH '), secret: keyBody },
  { name: 'key in JSON', text: JSON.stringify({ pem: pem('EC ') }), secret: mixed(64) },
  { name: 'Slack hook', text: `https://hooks.slack.com/services/T0/B0/${mixed(24)}`, secret: mixed(24) },
  { name: 'bearer', text: `Authorization: Bearer ${mixed(30)}`, secret: mixed(30) },
  { name: 'bearer alone', text: `bearer ${mixed(12)}`, secret: mixed(12) },
  { name: 'basic header', text: `authorization: Basic ${mixed(16)}=`, secret: mixed(16) },
  { name: 'URL with a password', text: 'https://bob:hunter2@example.org/x', secret: 'hunter2' },
  { name: 'connection string', text: 'postgres://app:p@ss:w0rd@db.local:5432/app', secret: 'p@ss:w0rd' },
  { name: 'ADO connection string', text: 'Server=db;User Id=app;Password=pa55word;Encrypt=yes', secret: 'pa55word' },
  { name: 'storage key', text: `AccountName=x;AccountKey=${mixed(40)}==;EndpointSuffix=y`, secret: mixed(40) },
  { name: 'environment', text: 'DB_PASSWORD=correct-horse next', secret: 'correct-horse' },
  { name: 'query', text: 'https://example.org/cb?access_token=abcdef&state=1', secret: 'abcdef' },
  { name: 'JSON', text: '{"client_secret": "two words", "a": 1}', secret: 'two words' },
  { name: 'JSON in JSON', text: JSON.stringify({ body: '{"password":"hunter2 x"}' }), secret: 'hunter2 x' },
  { name: 'YAML', text: 'api_key: abc123def\nport: 80', secret: 'abc123def' },
  { name: 'npmrc', text: '//host.example/:_authToken=abcd-efgh', secret: 'abcd-efgh' },
  { name: 'AWS secret', text: `aws_secret_access_key = ${mixed(40)}`, secret: mixed(40) },
]

/** What people write that is none: it must come through as it is. */
export const harmless: readonly string[] = [
  '',
  'The task ended because the operator cancelled it.',
  '01J9ZQK3V5T8M2N4P6R7S8T9V0',
  '3f2b8c1e-5d4a-4e6f-9a7b-1c2d3e4f5a6b',
  `hmac-sha256:${hex(64)}`,
  `sha256:${hex(64)}`,
  'call_9f8e7d6c5b4a',
  'order-2026-11-30-0001',
  'task-abcdefghijklmnopqrstuvwxyz-123456',
  'risk-assessment-of-the-whole-system-2026',
  'Basic authentication and bearer authentication are described in the manual.',
  'Use a password of at least ten words. The secret: patience.',
  'maxTokens=200000 and tokens: 1200',
  'https://example.org/a/b?page=2#top',
  'mail bob@example.org, or see http://host:8080/x@y',
  'src/capabilities/native-tools.ts:120: function of 71 lines',
  '{"path": "src/index.ts", "offset": 0, "length": 4096}',
  '这是一段没有空格的中文文本，不应该被改动。',
  'a'.repeat(150),
]
