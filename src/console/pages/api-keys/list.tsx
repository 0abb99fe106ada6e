import type { Child } from 'hono/jsx'
import type { KeyRow } from '../../../api-keys/key'
import { projectOf } from '../../../http/auth'
import type { Page } from '../../../http/page'
import type { People } from '../../../tenancy/people'
import { can, pathsOf, type Visit } from '../../page'
import { Choosing } from '../../ui/choosing'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Copyable, Head } from '../../ui/parts'
import { whoMay } from '../../ui/roles'
import { Table } from '../../ui/table'
import { keyColumns } from './columns'
import { Examples } from './secret'

/** After so many days without a use, a key is probably not needed. */
export const UNUSED_DAYS = 90

/** Whether the list shows only keys that were not used for so long. */
export const isUnused = (c: Visit) => c.req.query('unused_days') === String(UNUSED_DAYS)

/** The list of API keys, or an introduction if there are none. */
export function listPage(c: Visit, { data: rows, next_cursor }: Page<KeyRow>, people: People | null) {
  const writes = can(c, 'api_keys:write')
  const create = writes && (
    <a class="button primary" href={`${pathsOf(c).keys}/new`}>
      Create API key
    </a>
  )
  const filtered = isUnused(c)
  const empty = !filtered && rows.length === 0 && c.req.query('cursor') === undefined
  return show(
    c,
    { title: 'API keys', section: 'keys' },
    <>
      <Head title="API keys">{!empty && create}</Head>
      {!empty && (
        <p>
          {filtered ? (
            <>
              Keys that were created and last used at least {UNUSED_DAYS} days ago.{' '}
              <a href={pathsOf(c).keys}>Show all keys</a>
            </>
          ) : (
            <a href={`?unused_days=${UNUSED_DAYS}`}>Unused for {UNUSED_DAYS} days</a>
          )}
        </p>
      )}
      {empty ? (
        <NoKeys c={c} create={create} />
      ) : (
        <Choosing may={writes} to={`${pathsOf(c).keys}/revoke`} verb="Revoke selected…" danger>
          <Table
            label="API keys"
            rows={rows}
            columns={keyColumns(c, people)}
            class="keys minted"
            choosing={writes && rows.length > 0}
          />
        </Choosing>
      )}
      <Pager c={c} cursor={next_cursor} />
      <h2>Project ID for the X-Project-Id header</h2>
      <Copyable id="project-id" label="project ID">
        {projectOf(c.get('actor'))}
      </Copyable>
    </>,
  )
}

function NoKeys({ c, create }: { c: Visit; create: Child }) {
  return (
    <section class="empty">
      <h2>No active API keys</h2>
      <p>An API key lets your server call the API for this project. A first call looks like this:</p>
      <Examples c={c} secret="svc_v1_…" first="curl" />
      {create || <p>Ask {whoMay('api_keys:write')} of this project to create one.</p>}
    </section>
  )
}
