import { Hono } from 'hono'
import { listKeys } from '../../../api-keys/key'
import { run } from '../../../db/client'
import type { Runtime } from '../../../env'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { readMembers } from '../../../tenancy/people'
import { pageAsked } from '../../list'
import { page } from '../../page'
import { auditCsv } from './csv'
import { type Actors, readFilters } from './filters'
import { findEntries } from './find'
import { listPage } from './list'
import { readNames } from './names'

/** The number of entries on a page, and of the newest API keys to filter by. Their names can be long. */
const LISTED = 40
const CHOICES = 25

/** Who changed what in the project. */
export const auditPages = new Hono<HttpEnv>().route('/', auditCsv).get('/', page('audit_log:read'), async (c) => {
  const asked = readFilters(new URL(c.req.url).searchParams)
  const rt = c.get('rt')
  const project = projectOf(c.get('actor'))
  const { filters, order } = asked
  if (filters === null) return listPage(c, { asked, actors: await readActors(rt, project) }, null)
  const part = { ...pageAsked(c, LISTED), counts: true }
  const [found, actors] = await Promise.all([
    findEntries(c, { filters, order }, part, (rows) => readNames(rt, project, rows)),
    readActors(rt, project),
  ])
  return listPage(c, { asked, actors }, found)
})

/** The members and the newest API keys of the project. */
async function readActors(rt: Runtime, project: string): Promise<Actors> {
  const [people, keys] = await Promise.all([
    readMembers(rt, project),
    run(rt.db, listKeys(rt.db, { project_id: project, before: null, limit: CHOICES, now: rt.now })),
  ])
  return [...(people ?? []), ...keys.map(({ id, name }) => [id, `API key “${name}”`] as const)]
}
