import { idTime } from '../../../lib/ids'
import { iso } from '../../../lib/time'
import { csv, wrongFilters } from '../../csv'
import type { NamedEntry } from './entry'
import { readFilters } from './filters'
import { findEntries } from './find'
import { readPeople } from './names'

/** The audit log as a file. */
export const auditCsv = csv<NamedEntry>({
  at: '',
  name: 'audit-log',
  needs: 'audit_log:read',
  columns: [
    ['id', ({ id }) => id],
    ['created_at', ({ id }) => iso(idTime(id))],
    ['actor_type', ({ actor_type }) => actor_type],
    ['actor_id', ({ actor_id }) => actor_id],
    ['actor', ({ actor_email, actor_name }) => actor_email ?? actor_name],
    ['action', ({ action }) => action],
    ['object_type', ({ object_type }) => object_type],
    ['object_id', ({ object_id }) => object_id],
    ['request_id', ({ request_id }) => request_id],
    ['client_request_id', ({ client_request_id }) => client_request_id],
    ['details', ({ details }) => details && JSON.stringify(details)],
  ],
  list: (c) => {
    const { filters, order, mistakes } = readFilters(new URL(c.req.url).searchParams)
    if (filters === null) throw wrongFilters(mistakes)
    const names = (rows: Parameters<typeof readPeople>[2]) => readPeople(c.get('rt'), null, rows)
    return (part) => findEntries(c, { filters, order }, part, names)
  },
})
