import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { must } from '../../scripts/lib/api.ts'
import { command } from '../../scripts/lib/command.ts'
import { connect } from '../../scripts/lib/inbox.ts'
import { ROOT } from '../../scripts/lib/paths.ts'
import { redeemLine } from '../../scripts/lib/server-log.ts'
import { newSigningSecret, type SignedVendor } from '../../scripts/lib/sign.ts'
import { printedCode, signIn } from '../../scripts/lib/sign-in.ts'
import { allBlocks, isLeftOut, linesOf } from './guide-blocks.ts'
import { newProject } from './new-project.ts'
import { blocksOf } from './try-guide.ts'

/** Where the pages expect the server. */
const THERE = ['http://localhost:8787', 'https://api.example.com']
/** What stands in a guide for a value that an earlier command printed. */
const PLACEHOLDERS = { DEVICE: ['dev_…', 'dev_[0-9a-z]{26}'], TOKEN: ['svc_dv_…', 'svc_dv_[0-9a-zA-Z_]{20,}'] } as const
const MARK = '@@ '
const PLAN = '"allowed":true,…"reason":"plan"'
/** What a page says in its text, or in another block, that a command prints: the page, how the command begins, and what. */
const SAID_ELSEWHERE: readonly [page: string, begins: string, says: string][] = [
  ['README', 'curl -s http://localhost:8787/platform/v1/api-keys', '"name":"first key"'],
  ['first-hour', 'npm run send', 'processed'],
  ['catalog-file', 'npm run catalog -- pull', 'catalog.json'],
  ['catalog-file', 'npm run catalog -- diff', '+ plan pro'],
  ['catalog-file', 'npm run catalog -- push', 'Pushed'],
  ['catalog-file', 'node catalog.ts push', 'price_1QZ4k'],
  ['changes', 'curl', '{"data":[],"next":"chg_…","has_more":false,"poll_after_s":5}'],
  ['mcp', 'curl', '"tools":['],
  ['mirror', 'npm run mirror', 'Up to date'],
  ['webhooks-out', 'curl', '{"endpoint":{"id":"…"secret":"whsec_…"}'],
]

/** A command of a page, and what the page says that it prints. */
type Step = { line: string; says: string[] }
/** A page that is tried: `own` is a folder for its files. The project and the key are new, and it has no more than the page says. */
type Trial = { page: string; text: string; own: string; url: string; token: string; project: string; key: string }

/**
 * Runs every command in the README, docs/start and docs/guides the way a reader pastes it, except those listed in guide-blocks.ts. Each page
 * has a project of its own. What a command prints is compared with what the page says: a comment after it, in which an ellipsis stands
 * for anything.
 *
 * @param client a folder where the client is installed
 * @throws if a command is refused, or prints something else
 */
export async function tryPages(url: string, folder: string, client: string): Promise<string> {
  // A new session: keys can only be minted soon after a sign-in.
  const { token } = await signIn(url, 'guides@example.com')
  let [ran, pages] = [0, 0]
  for (const path of pathsOfPages()) {
    const [page, text] = [basename(path, '.md'), readFileSync(join(ROOT, path), 'utf8')]
    const lines = stepsOf(text, page)
    if (lines.length === 0) continue
    const own = join(folder, page)
    const trial = { page, text, own, url, token, ...(await newProject(url, token, page)) }
    saveEvents(text, own)
    const prepared = await prepare(trial, client)
    const steps = page === 'README' ? await signInAsPrinted(lines, url) : lines
    const script = steps.map(({ line }) => scriptOf(line, trial)).join('\n')
    const PATH = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`
    const env = { KEY: trial.key, PROJECT: trial.project, API_URL: url, API: `${url}/platform/v1`, PATH, ...prepared }
    const said = await command('bash', ['-euc', script], { env })
    const printed = said.split(MARK).slice(1)
    for (const [at, { line, says }] of steps.entries()) check(page, line, printed[at] ?? '', says)
    if (page === 'mirror') queryCopy(text, own)
    ran += steps.length
    pages += 1
  }
  return `${ran} commands of ${pages} pages printed what they say`
}

function pathsOfPages(): string[] {
  const folders = ['docs/start', 'docs/guides'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  )
  return ['README.md', ...folders]
}

/** Does what a page says in its text: in the console, or in files. @returns the variables that its commands need */
async function prepare(trial: Trial, client: string): Promise<Record<string, string>> {
  const { page, text, url, ...by } = trial
  const api = `${url}/platform/v1`
  if (page === 'mirror') return { API_KEY: by.key }
  if (page === 'catalog-file') return prepareCatalog(trial, client)
  if (page === 'webhooks-out') {
    const [json = ''] = blocksOf(text, 'json')
    await must(`${api}/webhook-endpoints`, { ...by, json: JSON.parse(json) })
  }
  if (!page.startsWith('from-')) return {}
  if (page !== 'from-stripe')
    await must(`${api}/billing/features/exports`, { ...by, method: 'PUT', json: { name: 'Exports', type: 'boolean' } })
  const vendor = /--vendor (\w+)/.exec(text)?.[1] as SignedVendor | undefined
  if (vendor === undefined || page === 'from-stripe') return {}
  const { connection, secret } = await connect({ url, vendor, ...by }, vendor, newSigningSecret(vendor))
  const settings = { test_mode_counts: true }
  await must(`${api}/projects/${by.project}`, { ...by, method: 'PATCH', json: { settings } })
  return { CONNECTION: connection, SECRET: secret }
}

/** A live project, a map of its prices, and a checkout of a user's CI. The reader edits the file between two commands: see scriptOf. */
async function prepareCatalog({ text, own, url, token }: Trial, client: string): Promise<Record<string, string>> {
  const [edited = '', map = '', ...more] = blocksOf(text, 'json')
  if (more.length > 0) throw new Error('catalog-file: a block of JSON that nothing reads')
  writeFileSync(join(own, 'edited.json'), edited)
  writeFileSync(join(own, 'live.json'), map)
  mkdirSync(join(own, 'config'))
  symlinkSync(join(client, 'node_modules'), join(own, 'node_modules'))
  const live = await newProject(url, token, 'Live')
  return { TOKEN: token, LIVE: live.project, LIVE_KEY: live.key }
}

/** The commands of a page that are not left out. */
function stepsOf(text: string, page: string): Step[] {
  const steps: Step[] = []
  for (const { code } of allBlocks(text).filter(({ language }) => language === 'sh')) {
    // The command that a comment is about. It is none after an empty line, and one that is left out is not run.
    let about: Step | null = null
    for (const line of linesOf(code)) {
      if (line.startsWith('# ')) about?.says.push(line.slice(2))
      else if (line.trim() === '') about = null
      else {
        const says = SAID_ELSEWHERE.filter(([of, begins]) => of === page && line.startsWith(begins))
        about = { line, says: says.map(([, , said]) => said) }
        if (!isLeftOut(page, 'sh', line)) steps.push(about)
      }
    }
  }
  // The vendors' pages say in their text what this one prints. Nothing was bought if the vendor's events cannot be sent from here.
  const ask = steps.find(({ line }) => line.includes('explain=true'))
  if (!ask || !text.includes('npm run -s send')) return steps
  ask.says.push(page === 'from-stripe' ? '"allowed":false,…"reason":"test_mode"' : PLAN)
  return page === 'from-stripe' ? [...steps, { line: ask.line, says: [PLAN] }] : steps
}

/** Sends the README's first command, and puts the line that the server then prints before the others. */
async function signInAsPrinted([first, ...others]: readonly Step[], url: string): Promise<Step[]> {
  const said = await command('bash', ['-euc', first?.line.replaceAll(THERE[0] ?? '', url) ?? ''])
  const [challenge = ''] = /chl_\w+/.exec(said) ?? []
  return [{ line: redeemLine(url, challenge, await printedCode(challenge)), says: [] }, ...others]
}

/** A command with this server's address and with values for its placeholders, whose output is kept apart from the others'. */
function scriptOf(line: string, trial: Trial): string {
  const here = THERE.reduce((text, there) => text.replaceAll(there, trial.url), adapted(line, trial))
  const filled = Object.entries(PLACEHOLDERS).reduce((text, [name, [shown]]) => {
    return text.replaceAll(shown, line.includes(`"${shown}`) ? `'"$${name}"'` : `$${name}`)
  }, here)
  if (/^(export )?\w+(=|\(\))/.test(line)) return `${filled}\necho '${MARK}'`
  const kept = Object.entries(PLACEHOLDERS).map(
    ([name, [, pattern]]) =>
      `FOUND=$(grep -oE '${pattern}' <<< "$OUT" | tail -1 || true); ${name}=\${FOUND:-\${${name}:-}}`,
  )
  return [`OUT=$(${filled})`, ...kept, `echo '${MARK}'"$OUT"`].join('\n')
}

/** The files of a page are in its folder, not in this checkout; and what the page says beside a command is done. */
function adapted(line: string, { own, url }: Trial): string {
  if (line.startsWith('npm run -s send')) return line.replace('send -- events ', `send -- ${own}/events --url ${url} `)
  if (line.startsWith('npm run mirror'))
    return line.replace('--to ', `--once --to ${own}/`).replace('prj_…', '$PROJECT')
  if (line.startsWith('cp -r')) return `cd ${own} && cp catalog.json config/ && ${line}`
  const live = (text: string) => `API_KEY=$LIVE_KEY ${text.replace('prj_…', '$LIVE')}`
  if (line.startsWith('node catalog.ts')) return `cd ${own} && ${live(line)}`
  if (!line.startsWith('npm run catalog')) return line
  const [from, prices] = [`--from ${own}/catalog.json`, `--prices ${own}/`]
  if (line.includes('prj_…')) return `${live(line).replace('--prices ', prices)} ${from}`
  if (line.includes(' diff ')) return `${line} ${from} || test $? = 2`
  if (!line.includes(' pull ')) return `${line} ${from}`
  const edit = `JSON.stringify({ ...JSON.parse(fs.readFileSync('catalog.json')), ...JSON.parse(fs.readFileSync('edited.json')) })`
  return `${line} ${from} && cd ${own} && node -e "fs.writeFileSync('catalog.json', ${edit})"`
}

/** Saves the events of a page in the files that it names. */
function saveEvents(text: string, folder: string): void {
  mkdirSync(join(folder, 'events'), { recursive: true })
  const names = [...text.matchAll(/`(events\/[\w-]+\.json)`/g)].map(([, name = '']) => name)
  if (names.length === 0) return
  const now = JSON.stringify(new Date().toISOString())
  const events = blocksOf(text, 'json').flatMap((block) => JSON.parse(block.replaceAll('"NOW"', now)))
  if (events.length !== names.length) throw new Error(`${folder}: ${events.length} events, ${names.length} files`)
  for (const [at, name] of names.entries()) writeFileSync(join(folder, name), JSON.stringify(events[at]))
}

/** Asks the copy what the page asks. */
function queryCopy(text: string, folder: string): void {
  const copy = new DatabaseSync(join(folder, 'mirror.sqlite'), { readOnly: true })
  for (const query of blocksOf(text, 'sql')) copy.prepare(query).all()
  copy.close()
}

/** @throws if a command was refused, or did not print what is said of it: an ellipsis stands for anything */
export function check(page: string, line: string, printed: string, says: readonly string[]): void {
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
