import type { ObjectKind } from '../../src/lib/billing-kinds'
import { newId } from '../../src/lib/ids'
import { insertObjects, insertTimeline } from '../billing/rows'
import { type Rows, read } from './row'

const PAGES = '/console/p/:project/platform/billing'

export const BILLING: Rows = {
  ...objects('subscriptions', 'subscription', ['status=active', 'customer=cus_1', 'vendor=stripe', '']),
  ...objects('invoices', 'invoice', ['status=open', 'customer=cus_1', 'subscription=sub_1', 'overdue=true', '']),
  ...objects('payment-methods', 'payment_method', ['status=attached', 'customer=cus_1', '']),
  ...objects('purchases', 'purchase', ['status=paid', 'customer=cus_1', 'disputed=false', '']),
}

/** The rows of one kind of object. Vendors' ids have no order; these rise, so that new rows sort before the first page. */
function objects(at: string, kind: ObjectKind, filters: [string, ...string[]]): Rows {
  const rising = (n: number) => Array.from({ length: n }, () => newId('evt', Date.now()))
  const sample = {
    subscription: 'sub_sample',
    invoice: 'in_sample',
    payment_method: 'pm_sample',
    purchase: 'pi_sample',
  }[kind]
  return {
    [`GET /platform/v1/billing/${at}`]: {
      who: read('billing:read'),
      list: {
        add: ({ project }, n) =>
          insertObjects(
            project,
            kind,
            rising(n).map((id) => `zz_${id}`),
          ),
        filters,
      },
      console: { [`GET ${PAGES}/${at}`]: {}, [`GET ${PAGES}/${at}/csv`]: {} },
    },
    [`GET /platform/v1/billing/${at}/:id`]: {
      who: read('billing:read'),
      console: { [`GET ${PAGES}/${at}/:object`]: {} },
    },
    [`GET /platform/v1/billing/${at}/:id/timeline`]: {
      who: read('billing:read'),
      list: {
        id: (row) => row.event_id,
        add: ({ project, connection }, n) => insertTimeline(project, connection.id, kind, sample, rising(n)),
      },
    },
  }
}
