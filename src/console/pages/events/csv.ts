import { projectOf } from '../../../http/auth'
import type { EventRow } from '../../../inbox/events/events'
import { findPage } from '../../../inbox/search/search'
import { idTime } from '../../../lib/ids'
import { iso } from '../../../lib/time'
import { csv, wrongFilters } from '../../csv'
import { readSearch } from './search-query'

/** The list of events as a file, without their payloads. */
export const eventCsv = csv<EventRow>({
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
    ['attempts', ({ attempts }) => attempts],
    ['last_error_code', ({ last_error_code }) => last_error_code],
    ['last_error', ({ last_error }) => last_error],
  ],
  list: (c) => {
    const { db, now } = c.get('rt')
    const { fields, mistakes } = readSearch(new URL(c.req.url).searchParams, now)
    if (fields === null) throw wrongFilters(mistakes)
    return async (part) => {
      const page = await findPage(db, projectOf(c.get('actor')), fields, part)
      return page.pageOf(await page.read('summary'))
    }
  },
})
