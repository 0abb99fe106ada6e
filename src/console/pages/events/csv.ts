import { projectOf } from '../../../http/auth'
import { findPage } from '../../../inbox/search/search'
import { idTime } from '../../../lib/ids'
import { iso } from '../../../lib/time'
import { csv, wrongFilters } from '../../csv'
import type { ListedEvent } from './row'
import { readSearch } from './search-query'
import { withConsumers } from './store'

/** The list of events as a file, without their payloads. */
export const eventCsv = csv<ListedEvent>({
  at: '',
  name: 'events',
  needs: 'billing:read',
  columns: [
    ['id', ({ id }) => id],
    ['received_at', ({ id }) => iso(idTime(id))],
    ['event_type', ({ event_type }) => event_type],
    ['status', ({ status }) => status],
    ['vendor', ({ vendor }) => vendor],
    ['livemode', ({ livemode }) => livemode],
    ['connection_id', ({ connection_id }) => connection_id],
    ['connection', ({ connection_name }) => connection_name],
    ['vendor_event_id', ({ vendor_event_id }) => vendor_event_id],
    ['object_type', ({ summary }) => summary?.object.type],
    ['object_id', ({ summary }) => summary?.object.id],
    ['customer', ({ summary }) => summary?.customer],
    ['consumer_id', ({ consumer_id }) => consumer_id],
    ['consumer', ({ consumer }) => consumer],
    ['attempts', ({ attempts }) => attempts],
    ['last_error_code', ({ last_error_code }) => last_error_code],
    ['last_error', ({ last_error }) => last_error],
  ],
  list: (c) => {
    const rt = c.get('rt')
    const project = projectOf(c.get('actor'))
    const { fields, mistakes } = readSearch(new URL(c.req.url).searchParams, rt.now)
    if (fields === null) throw wrongFilters(mistakes)
    return async (part) => {
      const found = await findPage(rt.db, project, fields, part)
      const page = found.pageOf(await found.read('summary'))
      return { ...page, data: await withConsumers(rt, project, page.data) }
    }
  },
})
