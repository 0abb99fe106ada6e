import { stripVTControlCharacters } from 'node:util'
import type { StoreConfig } from '../stores-config.ts'
import { fail } from '../terminal.ts'
import type { Commands } from './commands.ts'

/**
 * As `wrangler d1 list` returns them. `jurisdiction` is null if there is none, and missing if wrangler does not report
 * it.
 */
type Listed = { name: string; uuid: string; jurisdiction?: string | null }

const UNKNOWN = '<its id>'
/** The id of a database, and of a namespace, as wrangler prints it. */
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/
const HEX_ID = /(?<=")[0-9a-f]{32}(?=")/

export async function requireLogin(commands: Commands): Promise<void> {
  const { CLOUDFLARE_API_TOKEN, CLOUDFLARE_ACCOUNT_ID } = process.env
  // With both, there is nothing to choose; the next command tries the token.
  if (CLOUDFLARE_API_TOKEN && CLOUDFLARE_ACCOUNT_ID && !commands.dry) return
  const { code, stdout } = await commands.look(['whoami', '--json'])
  if (commands.dry) return
  if (code !== 0) fail('You are not logged in to Cloudflare. Run npx wrangler login, or set CLOUDFLARE_API_TOKEN.')
  const { accounts = [] } = JSON.parse(stdout) as { accounts?: { id: string; name: string }[] }
  if (accounts.length > 1 && !CLOUDFLARE_ACCOUNT_ID) {
    const list = accounts.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
    fail(`You have access to several accounts. Choose one with CLOUDFLARE_ACCOUNT_ID.\n${list}`)
  }
}

/** Creates the queues that the account lacks. */
export async function ensureQueues(commands: Commands, names: readonly string[]): Promise<void> {
  const missing = await missingQueues(commands, names)
  for (const name of missing) await commands.change(['queues', 'create', name], { when: 'if it does not exist' })
}

/** Those of the queues that the account lacks. wrangler lists its queues page by page, and only as a table. */
async function missingQueues(commands: Commands, names: readonly string[]): Promise<string[]> {
  const cells = new Set<string>()
  let missing = [...names]
  for (let page = 1; missing.length > 0; page++) {
    const before = cells.size
    const table = await commands.lookOrThrow(['queues', 'list', '--page', String(page)])
    for (const cell of stripVTControlCharacters(table).split(/[│\n]/)) cells.add(cell.trim())
    missing = missing.filter((name) => !cells.has(name))
    // After the last page comes an empty one. A page with nothing new would come for ever.
    if (!table.includes('│') || cells.size === before) break
  }
  return missing
}

/**
 * Creates the databases of stores that have none. A further store gets the jurisdiction of the directory.
 *
 * @param stores including store 0, the directory
 * @param jurisdiction where new databases are to be kept, if wrangler does not report it for the directory
 * @returns the ids of all databases, by the number of the store
 */
export async function ensureDatabases(
  commands: Commands,
  stores: readonly StoreConfig[],
  jurisdiction: string | undefined,
): Promise<Map<number, string>> {
  const known = await listDatabases(commands)
  const missing = stores.filter(({ database }) => !known.has(database))
  const [directory] = stores
  const where = missing.length === 0 ? undefined : placeOf(known.get(directory?.database ?? ''), jurisdiction)
  const place = where === undefined || where === 'none' ? [] : ['--jurisdiction', where]
  const ids = new Map<number, string>()
  for (const { number, database } of stores) {
    const id = known.get(database)?.uuid
    ids.set(number, id ?? (await created(commands, ['d1', 'create', database, ...place], UUID)))
  }
  return ids
}

/** Creates what does not exist. @returns its id */
async function created(commands: Commands, create: readonly string[], id: RegExp): Promise<string> {
  const args = [...create, '--update-config=false']
  const said = await commands.change(args, { when: 'if it does not exist' })
  if (commands.dry) return UNKNOWN
  return (
    id.exec(said)?.[0] ??
    fail(`wrangler ${create.join(' ')} printed no id. Run this again: it will be found in the list.`)
  )
}

/** Where new databases are kept: where the directory is, because nothing says which projects may be kept elsewhere. */
function placeOf(directory: Listed | undefined, asked: string | undefined): string | undefined {
  const home = directory?.jurisdiction
  if (directory && home === undefined && asked === undefined) {
    fail(`Cloudflare does not say in which jurisdiction the directory, ${directory.name}, is kept, and a database cannot be moved later.
Repeat the command with --jurisdiction, or with --jurisdiction none.`)
  }
  if (home === undefined || asked === undefined || home === asked) return asked ?? home ?? undefined
  return fail(`--jurisdiction ${asked}: the directory, ${directory?.name}, is kept ${home === null ? 'in no jurisdiction' : `in ${home}`}, and so are all stores. This
cannot be changed later. Leave the option out, or use a second deployment.`)
}

async function listDatabases(commands: Commands): Promise<Map<string, Listed>> {
  const list = JSON.parse((await commands.lookOrThrow(['d1', 'list', '--json'])) || '[]') as Listed[]
  return new Map(list.map((database) => [database.name, database]))
}

export async function ensureNamespace(commands: Commands, title: string): Promise<string> {
  const said = await commands.lookOrThrow(['kv', 'namespace', 'list'])
  const list = JSON.parse(said || '[]') as { title: string; id: string }[]
  const id = list.find((one) => one.title === title)?.id
  return id ?? created(commands, ['kv', 'namespace', 'create', title], HEX_ID)
}
