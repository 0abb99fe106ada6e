/** A block of code in a page. */
type Block = { language: string; code: string }

const CALL = "try-vendor-calls.ts: the types of the vendor's package"

/** Who runs or reads the blocks of a page in a language, all of them. Blocks in `sh` are not here: try-pages.ts runs each line of theirs. */
export const USED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  README: { ts: 'try-guide.ts: a program' },
  'catalog-file': { json: 'try-pages.ts: the file, and the map of prices' },
  'customer-keys': { js: 'try-programs.ts: a program' },
  'from-chargebee': { js: CALL, json: 'try-pages.ts: events' },
  'from-gocardless': { js: CALL },
  'from-lemon-squeezy': { js: CALL, json: 'try-pages.ts: events' },
  'from-paddle': { js: CALL, json: 'try-pages.ts: events' },
  'from-polar': { js: CALL, json: 'try-pages.ts: events' },
  'from-shopify': { json: 'try-pages.ts: events' },
  'from-square': { js: CALL, json: 'try-pages.ts: events' },
  'from-stripe': { js: CALL, json: 'try-pages.ts: events' },
  integrate: { ts: 'try-guide.ts: a program', text: 'try-guide.ts: what it prints' },
  mirror: { sql: 'try-pages.ts: a query of the copy' },
  'other-languages': {
    bash: 'clients.ts, every week',
    go: 'clients.ts, every week',
    python: 'clients.ts, every week',
    text: 'clients.ts, every week: what both print',
  },
  'sso-customers': { ts: 'try-idp.ts: a program' },
  'webhooks-out': { js: 'try-programs.ts: a program', json: 'try-pages.ts: the body of a call' },
}

/** A sign-in at a provider needs a browser, which try-idp.ts stands in for. It runs these lines. */
export const BY_TRY_IDP = 'try-idp.ts runs it, with a person at the local identity provider'
const CALLS_VENDOR = 'calls the vendor, which needs an account there, and has no types to check it by'
const EDITOR = 'a setting of a program that is not here. try-mcp.ts connects a client to the same address'
const PACKAGES = 'try-client.ts and try-guide.ts do it, with packages of this checkout instead of a registry'

/**
 * What nothing runs as it is printed, and why. `begins`: a block, or in `sh` a line.
 */
export const LEFT_OUT: readonly { page: string; language: string; begins: readonly string[]; why: string }[] = [
  { page: 'README', language: 'sh', begins: ['npm ci && npm'], why: '.ci/run does it' },
  { page: 'first-hour', language: 'sh', begins: ['npm ci && npm'], why: '.ci/run does it' },
  {
    page: 'integrate',
    language: 'sh',
    begins: ['npm run client ', 'cd .. && mkdir', 'echo install-links', 'npm install ', 'API_KEY=$KEY '],
    why: PACKAGES,
  },
  {
    page: 'changes',
    language: 'json',
    begins: ['{ "data": [], "next": "chg_'],
    why: 'try-pages.ts compares it with the answer',
  },
  {
    page: 'changes',
    language: 'json',
    begins: ['{ "type": "subscription.changed"'],
    why: 'try-listen.ts reads what is posted',
  },
  {
    page: 'customer-keys',
    language: 'sh',
    begins: ['curl -s localhost:3000'],
    why: 'try-programs.ts makes this call, with the key of a customer',
  },
  {
    page: 'domains',
    language: 'sh',
    begins: ['as -X POST $API/domains/dom_…/verify'],
    why: 'needs a record in the DNS. test/domains/ has resolvers of its own',
  },
  { page: 'from-braintree', language: 'js', begins: ['await gateway.customer.create('], why: CALLS_VENDOR },
  { page: 'from-shopify', language: 'js', begins: ['const create ='], why: CALLS_VENDOR },
  ...['app-store', 'revenuecat'].map((vendor) => ({
    page: `from-${vendor}`,
    language: 'swift',
    begins: ['let '],
    why: 'runs in an app on a phone',
  })),
  { page: 'mcp', language: 'sh', begins: ['claude mcp add'], why: EDITOR },
  { page: 'mcp', language: 'json', begins: ['{\n  "mcpServers"', '{\n  "inputs"'], why: EDITOR },
  {
    page: 'mirror',
    language: 'sh',
    begins: ['npm run mirror -- --url https://api.example.com --project prj_… --to postgres:'],
    why: 'needs PostgreSQL. npm run try:mirror -- --to does it',
  },
  {
    page: 'passkeys',
    language: 'js',
    begins: ["const { options } = await post('/auth/passkeys/challenge')"],
    why: 'runs in a browser. test/e2e/passkeys.test.ts signs in with a passkey',
  },
  {
    page: 'passkeys',
    language: 'sh',
    begins: ['npx wrangler d1 execute DB --remote'],
    why: 'deploy/walks-of-operators.ts does it, with a stand-in for the account',
  },
  {
    page: 'sso-customers',
    language: 'sh',
    begins: ['API=', 'as()', 'SSO=', 'as -X POST $API/sso', 'API_KEY=$KEY', 'as $API/sso/'],
    why: BY_TRY_IDP,
  },
  {
    page: 'vendor-api',
    language: 'http',
    begins: ['POST /platform/v1/consumers/ext:user_42/refresh'],
    why: 'calls the vendor. test/inbox/refresh/ has a stand-in for it',
  },
  { page: 'vendor-api', language: 'json', begins: ['{\n  "as_of"'], why: 'the answer to that call' },
  {
    page: 'webhooks-out',
    language: 'http',
    begins: ['POST /webhooks HTTP/1.1'],
    why: 'what the service sends. try-programs.ts and npm run try:webhooks receive it',
  },
]

/** Whether a block, or a line of shell, is left out. */
export function isLeftOut(page: string, language: string, code: string): boolean {
  return LEFT_OUT.some((one) => {
    return one.page === page && one.language === language && one.begins.some((begins) => code.startsWith(begins))
  })
}

/** All blocks of code in a page. */
export function allBlocks(text: string): Block[] {
  const found = text.matchAll(/^ *```(\w*)[^\n]*\n(.*?)^ *```$/gms)
  return [...found].map(([, language = '', code = '']) => ({ language, code }))
}

/** The commands of a block of shell: a command that goes on in the next line is one line. */
export function linesOf(code: string): string[] {
  return code.replaceAll('\\\n', '').split('\n')
}
