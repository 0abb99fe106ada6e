import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../../scripts/lib/api.ts'
import { command } from '../../scripts/lib/command.ts'
import { connect } from '../../scripts/lib/inbox.ts'
import { ROOT } from '../../scripts/lib/paths.ts'
import { newSigningSecret, type SignedVendor } from '../../scripts/lib/sign.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { blocksOf, codeOf } from './try-guide.ts'

/** Guides whose commands run one after the other as they are printed. */
const PAGES = ['devices', 'customer-keys', 'changes', 'from-stripe']
/** Guides of vendors whose events can be sent without an account there. */
const VENDORS = ['chargebee', 'lemon-squeezy', 'paddle', 'polar', 'shopify', 'square'].map((name) => `from-${name}`)
/** Where the guides expect the server. */
const THERE = 'http://localhost:8787'
/** What stands in a guide for a value that an earlier command printed. */
const PLACEHOLDERS = { DEVICE: ['dev_…', 'dev_[0-9a-z]{26}'], TOKEN: ['svc_dv_…', 'svc_dv_[0-9a-zA-Z_]{20,}'] } as const
const MARK = '@@ '

/** A command of a guide, and what the guide says that it prints. */
type Step = { line: string; says: string[] }

/**
 * Runs the commands of guides as a reader pastes them, each guide in a project of its own, and compares what they print with
 * what the guide says: a comment after a command, in which an ellipsis stands for anything.
 *
 * @throws if a command is refused, or prints something else
 */
export async function tryPages(url: string, folder: string): Promise<string> {
  // A new session: keys can only be minted soon after a sign-in.
  const { token } = await signIn(url, 'guides@example.com')
  let ran = 0
  for (const page of [...PAGES, ...VENDORS]) {
    const { id: project } = await must<{ id: string }>(`${url}/platform/v1/projects`, { token, json: { name: page } })
    const minted = { token, project, json: { name: 'first key' } }
    const { secret } = await must<{ secret: string }>(`${url}/platform/v1/api-keys`, minted)
    const text = readFileSync(join(ROOT, `docs/guides/${page}.md`), 'utf8')
    const own = join(folder, page)
    saveEvents(text, own)
    const prepared = VENDORS.includes(page) ? await prepare(text, { url, token, project }) : {}
    const steps = stepsOf(text, page)
    const script = steps.map((step) => scriptOf(step.line, url, own)).join('\n')
    const said = await command('bash', ['-euc', script], { env: { KEY: secret, PROJECT: project, ...prepared } })
    const printed = said.split(MARK).slice(1)
    for (const [at, { line, says }] of steps.entries()) check(page, line, printed[at] ?? '', says)
    ran += steps.length
  }
  return `${ran} commands of ${PAGES.length + VENDORS.length} guides printed what they say`
}

/** Does what a vendor's guide does in the console: a connection, a feature, and a project for tests. */
async function prepare(text: string, { url, ...by }: { url: string; token: string; project: string }) {
  const vendor = /--vendor (\w+)/.exec(text)?.[1] as SignedVendor
  const { connection, secret } = await connect({ url, vendor, ...by }, vendor, newSigningSecret(vendor))
  const api = `${url}/platform/v1`
  await must(`${api}/billing/features/exports`, { ...by, method: 'PUT', json: { name: 'Exports', type: 'boolean' } })
  await must(`${api}/projects/${by.project}`, {
    ...by,
    method: 'PATCH',
    json: { settings: { test_mode_counts: true } },
  })
  return { CONNECTION: connection, SECRET: secret }
}

/** The commands of a page. One that needs more than the server is left out. */
function stepsOf(text: string, page: string): Step[] {
  const steps: Step[] = []
  for (const line of codeOf(text, 'sh').replaceAll('\\\n', '').split('\n')) {
    if (line.startsWith('# ')) steps.at(-1)?.says.push(line.slice(2))
    else if (line.trim() !== '' && !line.includes('localhost:3000')) steps.push({ line, says: [] })
  }
  // The pages say in their text what this one prints.
  const ask = steps.find(({ line }) => line.includes('explain=true'))
  if (!ask) return steps
  const allowed = '"allowed":true,…"reason":"plan"'
  ask.says.push(page === 'from-stripe' ? '"allowed":false,…"reason":"test_mode"' : allowed)
  return page === 'from-stripe' ? [...steps, { line: ask.line, says: [allowed] }] : steps
}

/** A command with this server's address and with values for its placeholders, whose output is kept apart from the others'. */
function scriptOf(line: string, url: string, folder: string): string {
  const here = line.replaceAll(THERE, url).replace('send -- events ', `send -- ${folder}/events --url ${url} `)
  const filled = Object.entries(PLACEHOLDERS).reduce((text, [name, [shown]]) => {
    return text.replaceAll(shown, line.includes(`"${shown}`) ? `'"$${name}"'` : `$${name}`)
  }, here)
  if (/^\w+(=|\(\))/.test(line)) return `${filled}\necho '${MARK}'`
  const kept = Object.entries(PLACEHOLDERS).map(
    ([name, [, pattern]]) =>
      `FOUND=$(grep -oE '${pattern}' <<< "$OUT" | tail -1 || true); ${name}=\${FOUND:-\${${name}:-}}`,
  )
  return [`OUT=$(${filled})`, ...kept, `echo '${MARK}'"$OUT"`].join('\n')
}

/** Saves the events of a page in the files that it names. */
function saveEvents(text: string, folder: string): void {
  mkdirSync(join(folder, 'events'), { recursive: true })
  const names = [...text.matchAll(/`(events\/[\w-]+\.json)`/g)].map(([, name = '']) => name)
  if (names.length === 0) return
  const now = JSON.stringify(new Date().toISOString())
  const events = blocksOf(text, 'json').flatMap((block) => JSON.parse(block.replaceAll('"NOW"', now)))
  for (const [at, name] of names.entries()) writeFileSync(join(folder, name), JSON.stringify(events[at]))
}

function check(page: string, line: string, printed: string, says: readonly string[]): void {
  if (/"status":[45]\d\d,/.test(printed)) throw new Error(`${page}: ${line}\nwas refused: ${printed}`)
  for (const said of says) {
    // Each part must be there, in this order.
    let from = 0
    for (const part of said.split('…')) {
      const at = printed.indexOf(part, from)
      if (at < 0) throw new Error(`${page}: ${line}\nsays ${said}\nand printed ${printed}`)
      from = at + part.length
    }
  }
}
