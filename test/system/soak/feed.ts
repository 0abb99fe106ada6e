import { must } from '../../../scripts/lib/api.ts'
import { call } from './call.ts'
import { lastOf, type Tenant } from './ledger.ts'
import type { Run } from './load.ts'

/** What a reader of the feed has seen of a tenant. */
export type Feed = {
  position: string
  /** The number of the last change. */
  number: number
  changes: number
  /** The cause of the last change of each object. */
  causes: Map<string, string | undefined>
}
type Change = { number: number; type: string; object: { id: string }; cause: { id: string } | null }
type Page = { data: Change[]; next: string; has_more: boolean }

export const newFeed = (): Feed => ({ position: '', number: 0, changes: 0, causes: new Map() })

/** Reads the next page of the feed. A page that does not arrive is asked for again from the same position. @returns whether there is more */
export async function follow(run: Run, tenant: Tenant): Promise<boolean> {
  const { token, project, feed } = tenant
  const after = feed.position === '' ? '' : `&after=${feed.position}`
  const { status, body } = await call<Page>(`${run.url}/platform/v1/changes?limit=200${after}`, { token, project })
  if (status >= 400 && status < 500) run.broken.push(`a reader of the feed got ${status}: ${JSON.stringify(body)}`)
  if (status !== 200) return true
  for (const { number, type, object, cause } of body.data) {
    if (number !== feed.number + 1) run.broken.push(`${tenant.name}: change ${number} comes after ${feed.number}`)
    feed.number = number
    feed.changes += 1
    if (/^(subscription|invoice)\.changed$/.test(type)) feed.causes.set(object.id, cause?.id)
  }
  feed.position = body.next
  return body.has_more
}

/** Checks that the feed tells of the last event of each object. @returns how many changes it has */
export async function checkFeed(run: Run, tenant: Tenant): Promise<number> {
  while (await follow(run, tenant)) {}
  const { token, project, feed } = tenant
  for (const [object, { kind }] of lastOf(tenant)) {
    const path = `${run.url}/platform/v1/billing/${kind}s/${object}`
    const { source_event_id } = await must<{ source_event_id: string }>(path, { token, project })
    if (feed.causes.get(object) !== source_event_id)
      run.broken.push(`${tenant.name}: the feed does not tell of the last event of ${object}`)
  }
  return feed.changes
}
