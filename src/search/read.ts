import type { Context } from 'hono'
import { batch, type Database, type Query } from '../db/client'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { besides, isOne, read } from '../http/read'
import type { Scope } from '../lib/access'
import { BILLING_SOURCES } from './billing'
import { CONSUMER_SOURCES, DEVICES, GRANTS } from './consumers'
import type { FoundObject, FoundType } from './fields'
import { MOST_OF_A_TYPE } from './limits'
import { DIRECTORY_SOURCES, projectsNamed } from './people'
import { SETTINGS_SOURCES } from './settings'
import type { FoundRow, SearchSource } from './source'
import type { SearchText } from './text'

/** What a caller needs for the names of consumers. */
const NAMES = 'consumers:read'
const STORE_SOURCES = [...CONSUMER_SOURCES, GRANTS, DEVICES, ...BILLING_SOURCES, ...SETTINGS_SOURCES]

/** A statement of a search, and what the caller needs for its rows. */
type Asked = { name: string; type: FoundType; needs: readonly Scope[]; query: Query<FoundRow[]> }
/** What the API shows of an object, and what the console shows besides. */
export type SearchHit = FoundObject & Pick<FoundRow, 'about'>
type Answers = Record<string, FoundRow[]>

/**
 * Finds what a text identifies in the project of the caller, and among the projects of a user: one round trip to the store, and one to
 * the directory at the same time. What the caller may not read is not looked for.
 *
 * @returns `complete`: false if the directory does not answer
 * @throws {Fault} as `read` in http/read.ts
 */
export async function find(c: Context<HttpEnv>, text: SearchText): Promise<{ data: SearchHit[]; complete: boolean }> {
  const { db, directory } = c.get('rt')
  const inStore = asked(c, STORE_SOURCES, db, text)
  const inDirectory = [...asked(c, DIRECTORY_SOURCES, directory, text), ...projectsOf(c, text)]
  if (isOne(db, directory)) {
    const all = [...inStore, ...inDirectory]
    return { data: merged(c, all, await send(c, all)), complete: true }
  }
  const [stored, people] = await Promise.all([
    send(c, inStore),
    inDirectory.length > 0 ? besides(batch(directory, queriesOf(inDirectory))) : {},
  ])
  const data = [...merged(c, inStore, stored), ...merged(c, inDirectory, people ?? {})]
  return { data, complete: people !== null }
}

function asked<D extends Database>(
  c: Context<HttpEnv>,
  sources: readonly SearchSource<D>[],
  db: D,
  text: SearchText,
): Asked[] {
  const actor = c.get('actor')
  const project = projectOf(actor)
  const { now } = c.get('rt')
  return sources.flatMap(({ type, scope, names = false, find }, i) => {
    const named = names && actor.scopes.includes(NAMES)
    const query = actor.scopes.includes(scope) ? find(db, project, text, { names: named, now }) : null
    return query ? [{ name: `${type}_${i}`, type, needs: named ? [scope, NAMES] : [scope], query }] : []
  })
}

function projectsOf(c: Context<HttpEnv>, text: SearchText): Asked[] {
  const actor = c.get('actor')
  const query = actor.type === 'session' ? projectsNamed(c.get('rt').directory, actor, text) : null
  return query ? [{ name: 'projects', type: 'project', needs: [], query }] : []
}

const queriesOf = (all: readonly Asked[]) => Object.fromEntries(all.map(({ name, query }) => [name, query]))

/** The credential of the caller is read even if there is nothing else to read. */
async function send(c: Context<HttpEnv>, all: readonly Asked[]): Promise<Answers> {
  if (all.length === 0 && !c.get('pending') && !c.get('refused')) return {}
  return read(c, queriesOf(all))
}

/** What was found, each object once, in the order of the sources: an object that the text names by its id comes first. */
function merged(c: Context<HttpEnv>, all: readonly Asked[], answers: Answers): SearchHit[] {
  // Only now the caller's credentials are known to be good, and with them the scopes.
  const { scopes } = c.get('actor')
  const found = new Map<string, SearchHit>()
  const counts = new Map<FoundType, number>()
  for (const { name, type, needs } of all) {
    if (!needs.every((scope) => scopes.includes(scope))) continue
    for (const row of answers[name] ?? []) {
      const key = `${type} ${row.vendor} ${row.id}`
      const n = counts.get(type) ?? 0
      if (found.has(key) || n >= MOST_OF_A_TYPE) continue
      counts.set(type, n + 1)
      found.set(key, { type, ...row })
    }
  }
  return [...found.values()]
}
