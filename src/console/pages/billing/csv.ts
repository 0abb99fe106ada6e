import type { ShownObjects } from '../../../billing/read/present'
import type { Named } from '../../../entitlements/named'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { type CsvColumn, csv } from '../../csv'
import { askedIn, findListed } from './find'
import type { ObjectList } from './object-list'

type Row<K extends ObjectKind> = { object: ShownObjects[K]; named: Named | undefined }

const PLANS: CsvColumn<{ named: Named | undefined }> = [
  'plans',
  ({ named }) => named?.plans.map(({ name }) => name).join(', '),
]

/** A list of billing objects as a file. */
export function objectCsv<K extends ObjectKind>(list: ObjectList<K>) {
  const own = list.file.map(([head, value]): CsvColumn<Row<K>> => [head, ({ object }) => value(object)])
  return csv<Row<K>>({
    at: `/${list.path}`,
    name: list.path,
    needs: 'billing:read',
    columns: [
      ['id', ({ object }) => object.id],
      ['vendor', ({ object }) => object.vendor],
      ['status', ({ object }) => object.status],
      ['livemode', ({ object }) => object.livemode],
      ['customer', ({ object }) => object.customer],
      ['consumer_id', ({ named }) => named?.consumer?.id],
      ['consumer', ({ named }) => named?.consumer?.title],
      ...(list.showsPlans ? [PLANS] : []),
      ...own,
      ['created_at', ({ object }) => object.created_at],
      ['updated_at', ({ object }) => object.updated_at],
    ],
    list: (c) => {
      const asked = askedIn(new URL(c.req.url).searchParams, list.kind, c.get('rt').now)
      return async (part) => {
        const { data, namesOf, ...rest } = await findListed(c, list, asked, part)
        return { ...rest, data: data.map((object) => ({ object, named: namesOf(object) })) }
      }
    },
  })
}
