import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../../scripts/lib/api.ts'
import { command } from '../../scripts/lib/command.ts'
import { ROOT } from '../../scripts/lib/paths.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { blocksOf, codeOf } from './try-guide.ts'

/** Guides whose commands run one after the other as they are printed. */
const PAGES = ['from-stripe', 'devices', 'customer-keys', 'changes']
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
  for (const page of PAGES) {
    const { id: project } = await must<{ id: string }>(`${url}/platform/v1/projects`, { token, json: { name: page } })
    const minted = { token, project, json: { name: 'first key' } }
    const { secret } = await must<{ secret: string }>(`${url}/platform/v1/api-keys`, minted)
    const text = readFileSync(join(ROOT, `docs/guides/${page}.md`), 'utf8')
    const steps = stepsOf(codeOf(text, 'sh'), page)
    if (page === 'from-stripe') saveEvent(text, folder)
    const script = steps.map((step) => scriptOf(step.line, url, folder)).join('\n')
    const said = await command('bash', ['-euc', script], { env: { KEY: secret, PROJECT: project } })
    const printed = said.split(MARK).slice(1)
    for (const [at, { line, says }] of steps.entries()) check(page, line, printed[at] ?? '', says)
    ran += steps.length
  }
  return `${ran} commands of ${PAGES.length} guides printed what they say`
}

/** The commands of a page. One that needs more than the server is left out. */
function stepsOf(code: string, page: string): Step[] {
  const steps: Step[] = []
  for (const line of code.replaceAll('\\\n', '').split('\n')) {
    if (line.startsWith('# ')) steps.at(-1)?.says.push(line.slice(2))
    else if (line.trim() !== '' && !line.includes('localhost:3000')) steps.push({ line, says: [] })
  }
  if (page !== 'from-stripe') return steps
  // The page says in its text what these print.
  const ask = steps.find(({ line }) => line.includes('explain=true')) as Step
  ask.says.push('"allowed":false,…"reason":"test_mode"')
  return [...steps, { line: ask.line, says: ['"allowed":true,…"reason":"plan"'] }]
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

function saveEvent(page: string, folder: string): void {
  mkdirSync(join(folder, 'events'), { recursive: true })
  writeFileSync(join(folder, 'events/created.json'), blocksOf(page, 'json')[0] ?? '')
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
