import type { StoreConfig } from '../stores-config.ts'
import { fail } from '../terminal.ts'
import type { Commands } from './commands.ts'

/**
 * As `wrangler d1 list` returns them. `jurisdiction` is null if there is none, and missing if wrangler does not report
 * it.
 */
type Listed = { name: string; uuid: string; jurisdiction?: string | null }

const UNKNOWN = '<from the list>'

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

export async function ensureQueue(commands: Commands, name: string): Promise<void> {
  const { code } = await commands.look(['queues', 'info', name])
  if (commands.dry || code !== 0) {
    await commands.change(['queues', 'create', name], { when: 'if it does not exist' })
  }
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
  for (const { database } of missing) {
    const place = where === undefined || where === 'none' ? [] : ['--jurisdiction', where]
    const create = ['d1', 'create', database, ...place, '--update-config=false']
    await commands.change(create, { when: 'if it does not exist' })
  }
  const all = missing.length === 0 ? known : await listDatabases(commands)
  return new Map(stores.map(({ number, database }) => [number, idOf(commands, all, database)]))
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

function idOf({ dry }: Commands, databases: ReadonlyMap<string, Listed>, name: string): string {
  if (dry) return UNKNOWN
  return databases.get(name)?.uuid ?? fail(`${name} was created but is not listed yet. Run this again.`)
}

export async function ensureNamespace(commands: Commands, title: string): Promise<string> {
  const find = async () => {
    const said = await commands.lookOrThrow(['kv', 'namespace', 'list'])
    const list = JSON.parse(said || '[]') as { title: string; id: string }[]
    return list.find((one) => one.title === title)?.id
  }
  const known = await find()
  if (known !== undefined) return known
  const create = ['kv', 'namespace', 'create', title, '--update-config=false']
  await commands.change(create, { when: 'if it does not exist' })
  if (commands.dry) return UNKNOWN
  return (await find()) ?? fail(`${title} was created but is not listed yet. Run this again.`)
}
