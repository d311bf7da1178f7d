/**
 * Credentials that say what they are, by the words that their issuers put in front. None of them may begin in the middle of a
 * longer run of the same characters.
 */
const models = [
  'sk-(?=[\\w-]{0,64}\\d)[\\w-]{16,}', // OpenAI, Anthropic, OpenRouter, and those who copied the form
  'hf_[A-Za-z0-9]{30,}', // Hugging Face
  'gsk_[A-Za-z0-9]{32,}', // Groq
  'xai-[A-Za-z0-9]{32,}',
  'pplx-[A-Za-z0-9]{32,}', // Perplexity
  'r8_[A-Za-z0-9]{30,}', // Replicate
  'nvapi-[\\w-]{32,}',
  'lsv2_(?:pt|sk)_[0-9a-f]{24,}(?:_[0-9a-f]{4,})?', // LangSmith
  'pcsk_\\w{32,}', // Pinecone
  'tvly-[\\w-]{20,}',
]

const clouds = [
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])', // AWS
  'ABSK[A-Za-z0-9+/]{40,}={0,2}',
  'AIza[\\w-]{30,}', // Google
  'ya29\\.[\\w-]{20,}',
  '1//0[\\w-]{30,}',
  'GOCSPX-[\\w-]{20,}',
  '[\\w~.]{3}\\dQ~[\\w~.-]{31,34}(?![\\w~.-])', // Azure applications
  'LTAI[A-Za-z0-9]{16,24}(?![A-Za-z0-9])', // Alibaba
  'AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])', // Tencent
  'do[opr]_v1_[0-9a-f]{40,}', // DigitalOcean
  'dapi[0-9a-f]{32}', // Databricks
  'HRKU-[\\w-]{30,}', // Heroku
  'fm[12][ar]?_[\\w+/=-]{32,}', // Fly
  'v1\\.0-[0-9a-f]{24}-[0-9a-f]{100,}', // Cloudflare
  'nfp_[A-Za-z0-9]{32,}', // Netlify
  'pscale_(?:tkn|pw|oauth)_[\\w.-]{32,}',
  'sbp_[0-9a-f]{40}', // Supabase
  'sb_secret_[\\w-]{20,}',
  'napi_[a-z0-9]{40,}', // Neon
  'hv[bsr]\\.[\\w-]{20,}', // Vault
  'dp\\.(?:ct|pt|st|sa|scim|audit)\\.(?:[a-z0-9_-]{1,64}\\.)?[A-Za-z0-9]{40,}', // Doppler
  'ops_eyJ[\\w+/=-]{40,}', // 1Password
  '[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{60,}', // Terraform
  'pul-[0-9a-f]{40}',
  'AGE-SECRET-KEY-1[A-Z0-9]{40,}',
]

const code = [
  'gh[pousr]_[A-Za-z0-9]{20,}', // GitHub
  'github_pat_\\w{20,}',
  'gl(?:pat|dt|rt|rtr|ptt|cbt|ft|imt|agent|soat|ffct|oas)-[\\w.-]{16,}', // GitLab
  'GR1348941[\\w-]{20,}',
  'AT(?:ATT|CTT|BB)[\\w=-]{24,}', // Atlassian
  'npm_[A-Za-z0-9]{30,}',
  'pypi-[\\w-]{32,}',
  'rubygems_[0-9a-f]{48}',
  'oy2[a-z0-9]{43}(?![a-z0-9])', // NuGet
  'cio[A-Za-z0-9]{32}(?![A-Za-z0-9])', // crates.io
  'dckr_[op]at_[\\w-]{20,}', // Docker
  'PMAK-[0-9a-f]{24}-[0-9a-f]{34}', // Postman
  'sq[apu]_[0-9a-f]{40}', // SonarQube
  'bkua_[0-9a-f]{40}', // Buildkite
  'CFPAT-[\\w-]{40,}', // Contentful
]

const work = [
  'xox[abeoprs]-[A-Za-z0-9-]{10,}', // Slack
  'xoxe\\.xox[bp]-[A-Za-z0-9-]{10,}',
  'xapp-[A-Za-z0-9-]{16,}',
  '[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.[\\w-]{27,}', // Discord
  '\\d{6,12}:AA[\\w-]{30,}', // Telegram
  'lin_(?:api|oauth)_[A-Za-z0-9]{24,}',
  'secret_[A-Za-z0-9]{40,}', // Notion
  'ntn_[A-Za-z0-9]{40,}',
  'pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}', // Airtable
  'pat-[a-z]{2}\\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', // HubSpot
  'figd_[\\w-]{32,}', // Figma
  'SG\\.[\\w-]{16,}\\.[\\w-]{16,}', // SendGrid
  'SK[0-9a-f]{32}(?![A-Za-z0-9])', // Twilio
  'key-[0-9a-f]{32}(?![0-9a-f])', // Mailgun
  '[0-9a-f]{32}-us\\d{1,2}(?!\\w)', // Mailchimp
  'xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}', // Brevo
]

const payment = [
  '[prs]k_(?:live|test)_[A-Za-z0-9]{10,}', // Stripe
  'whsec_[A-Za-z0-9+/=]{16,}',
  'sq0(?:atp|csp|idp)-[\\w-]{22,}', // Square
  'EAAA[\\w-]{60}(?![\\w-])',
  'rzp_(?:live|test)_[A-Za-z0-9]{14,}', // Razorpay
  'FLWSECK(?:_TEST)?-[A-Za-z0-9-]{16,}', // Flutterwave
  'access_token\\$(?:production|sandbox)\\$[0-9a-z]{8,}\\$[0-9a-f]{32}', // PayPal
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{24,}', // Shopify
]

const watching = [
  'gl(?:sa|c)_[\\w+/=-]{32,}', // Grafana
  'NR(?:AK|II|JS)-[A-Za-z0-9_-]{19,}', // New Relic
  'sntry[su]_[\\w+/=.-]{40,}', // Sentry
  'hcaik_\\w{40,}', // Honeycomb
  'dt0[a-z]\\d{2}\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}', // Dynatrace
]

const signed = [
  'eyJ[\\w-]{5,}\\.(?:[\\w-]{5,}|(?=\\.[\\w-]))(?:\\.[\\w-]*)*', // JSON Web Tokens, also encrypted ones without a key part
  'v[1-4]\\.(?:local|public)\\.[\\w-]{40,}(?:\\.[\\w-]+)?', // PASETO
]

const forms = [...models, ...clouds, ...code, ...work, ...payment, ...watching, ...signed]

export const tokenPattern = new RegExp(`(?<![\\w-])(?:${forms.join('|')})`, 'g')
