import { expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { insertObjects } from '../billing/rows'
import { addMember, freshKey, STORE } from '../harness'
import { visit } from './visit'

/** In the order in which they are made. */
const IDS = ['one', 'three', 'two']

it.each([
  ['/platform/billing/subscriptions', 'Updated', 'status=active'],
  ['/platform/consumers', 'Created', 'state=active'],
  ['/platform/settings/audit-log', 'When', 'action=consumer.*'],
  ['/platform/changes', 'When', 'types=consumer.created'],
])(
  'the list %s says its order in a heading, which leads to the other one with the same filters',
  async (path, head, filter) => {
    const { project } = await freshKey()
    const { token } = await addMember(project, 'admin')
    await insertObjects(project, 'subscription', IDS)
    await STORE.batch(
      IDS.map((name, at) =>
        STORE.prepare(
          `INSERT INTO consumers (project_id, id, name, metadata, state, revision, created_at, updated_at)
         VALUES (?, ?, ?, '{}', 'active', 1, ?, ?)`,
        ).bind(project, `csm_${at}`, name, at, at),
      ),
    )
    await STORE.batch(
      IDS.map((_, at) =>
        STORE.prepare(
          `INSERT INTO audit_log (project_id, id, actor_type, actor_id, action, object_type, object_id, request_id)
         VALUES (?, ?, 'system', 'sys', 'consumer.blocked', 'consumer', ?, 'req_1')`,
        ).bind(project, newId('aud', Date.now() + at), `csm_${at}`),
      ),
    )
    const list = async (query: string) => {
      const { status, text } = await visit(`/console/p/${project}${path}${query}`, token)
      const link = new RegExp(`aria-sort="(\\w+)"><a href="([^"]*)">${head}<`).exec(text)?.slice(1)
      const rows = [...text.matchAll(/<tr><td>.*?>(one|two|three)</g)].map(([, name]) => name)
      return [status, link, rows]
    }
    const newest = IDS.toReversed()
    expect(await list(`?${filter}`)).toEqual([200, ['descending', `?${filter}&amp;order=asc`], newest])
    expect(await list(`?${filter}&order=asc`)).toEqual([200, ['ascending', `?${filter}`], newest.toReversed()])
  },
)
