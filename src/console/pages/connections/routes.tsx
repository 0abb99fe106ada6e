import { Hono } from 'hono'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { addSigningSecret, changeConnection, connect } from '../../../inbox/connections/connect'
import { type ConnectionRow, deleteConnection, readConnection } from '../../../inbox/connections/connection'
import { MAX_RELEASED } from '../../../inbox/connections/limits'
import { removeSecret } from '../../../inbox/connections/secrets'
import { removeVendorKey } from '../../../inbox/vendor-api/keys'
import { setVendorKey } from '../../../inbox/vendor-api/set-key'
import { notFound } from '../../../lib/fault'
import { vendorOf } from '../../../vendors'
import { type Ask, action, askPage } from '../../action'
import { readList } from '../../list'
import { page, pathsOf, type Visit } from '../../page'
import { type Sent, UNSENT } from '../../refusal'
import { plural } from '../../ui/format'
import { Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { API_KEY } from './api-key'
import { CHANGED_CONNECTION, chooseVendorPage, connectPage, NEW_CONNECTION } from './connect'
import { inboxConnectionPage } from './connection'
import { connectionPath, lastOf, secretName } from './describe'
import { vendorEndpointActions } from './endpoint-actions'
import { guideOf } from './guides'
import { importActions } from './import-actions'
import { listPage } from './list'
import { addressedConnection, readArrivals, readListed, readShownConnection } from './read'
import { refusalMutes } from './refusals'
import { REMOVED_SECRET, SECRET } from './secrets'
import { suggestedSecret } from './suggest'
import { testEventAction } from './test-event'
import { verificationPages } from './verification-actions'
import { FirstDelivery, seenOf } from './waiting'

const create = action({
  posts: '/',
  needs: 'connections:write',
  run: (c) => connect(c.get('rt'), projectOf(c.get('actor')), NEW_CONNECTION.body(c.get('form')), changeOf(c)),
  done: (c, row) => [connectionPath(c, row)],
  again: (c, sent) => connectPage(c, { ...sent, entered: c.get('form') }),
})

const change = action({
  posts: '/:id',
  needs: 'connections:write',
  run: (c) =>
    changeConnection(c.get('rt'), addressedConnection(c), CHANGED_CONNECTION.body(c.get('form')), changeOf(c)),
  done: (c) => [connectionPath(c, addressedConnection(c)), 'connection_updated'],
  again: shown,
  explains: {
    api_key_other_mode:
      'The connection has an API key for its current mode. Remove the key before you change the mode.',
  },
})

const remove = action({
  at: '/:id/delete',
  needs: 'connections:write',
  counted: { ends: true },
  read: find,
  ask: (c, row) => ({
    ...placed(c, row, 'Delete connection'),
    question: `Delete “${row.name}”?`,
    says: (
      <p>
        The ingest URL will return 404 permanently, and the signing secrets will be deleted. The events and the billing
        state will be kept.
        {row.held_as !== null &&
          ' Held events will be processed, but thin events end as ignored, because the API key is deleted too.'}{' '}
        Also remove the webhook at {vendorTitle(row.vendor)}, or it keeps sending. Last event received:{' '}
        <Time at={lastOf(row)} now={c.get('rt').now} none="never" />.
      </p>
    ),
  }),
  run: (c) =>
    deleteConnection(c.get('rt').db, addressedConnection(c).project_id, addressedConnection(c).id, changeOf(c)),
  done: (c) => [pathsOf(c).connections, 'connection_deleted'],
})

const addSecret = action({
  posts: '/:id/secrets',
  needs: 'connections:write',
  run: (c) =>
    addSigningSecret(c.get('rt'), addressedConnection(c), SECRET.body(c.get('form')).signing_secret, changeOf(c)),
  done: (c) => [connectionPath(c, addressedConnection(c)), 'secret_added'],
  again: shown,
})

const dropSecret = action({
  at: '/:id/secrets/:secret/remove',
  needs: 'connections:write',
  counted: { ends: true },
  read: find,
  ask: (c, row, sent) => {
    const secret = row.secrets.find(({ id }) => id === c.req.param('secret'))
    if (!secret) throw notFound('Signing secret')
    const others = row.secrets.length - 1
    return {
      ...placed(c, row, 'Remove secret'),
      question: `Remove the ${secretName(secret.hint)}?`,
      says: (
        <>
          <p>
            Deliveries signed with this secret will be refused immediately. Last used:{' '}
            <Time at={row.secrets_used[secret.id] ?? null} now={c.get('rt').now} none="never" />.
          </p>
          <p>
            {others === 0 ? (
              <strong>This is the only signing secret. Without it, the connection refuses every delivery.</strong>
            ) : (
              `${plural(others, 'other secret')} will keep working.`
            )}
          </p>
        </>
      ),
      choice: REMOVED_SECRET.field('forget', sent),
    }
  },
  run: (c) => {
    const removal = { secret_id: c.req.param('secret') ?? '', ...REMOVED_SECRET.body(c.get('form')) }
    return removeSecret(c.get('rt').db, addressedConnection(c), removal, changeOf(c))
  },
  done: (c) => [connectionPath(c, addressedConnection(c)), 'secret_removed'],
})

const setKey = action({
  posts: '/:id/api-key',
  needs: 'connections:write',
  counted: { costly: true },
  run: (c) => setVendorKey(c.get('rt'), keyed(c), API_KEY.body(c.get('form')).api_key, changeOf(c)),
  done: (c) => [connectionPath(c, addressedConnection(c)), 'api_key_set'],
  again: shown,
  explains: {
    api_key_invalid: true,
    api_key_too_powerful: true,
    api_key_other_mode: true,
    api_key_other_account: true,
    vendor_failed: true,
  },
})

const dropKey = action({
  at: '/:id/api-key/remove',
  needs: 'connections:write',
  counted: { ends: true },
  read: find,
  ask: (c, row) => ({
    ...placed(c, row, 'Remove key'),
    question: `Remove the ${vendorTitle(row.vendor)} API key?`,
    says: (
      <p>
        The service deletes the key and no longer uses it. Data already fetched stays. Also revoke the key at{' '}
        {vendorTitle(row.vendor)}.
      </p>
    ),
  }),
  run: (c) => removeVendorKey(c.get('rt').db, keyed(c), changeOf(c)),
  done: (c) => [connectionPath(c, addressedConnection(c)), 'api_key_removed'],
})

/** Connections to billing vendors, with their signing secrets. */
export const connectionPages = new Hono<HttpEnv>()
  .get('/', page('connections:read'), async (c) => {
    const read = (before: string | null, limit: number) => readListed(c, before, limit)
    return listPage(c, await readList(c, 'connections', read))
  })
  .get('/new', page('connections:write'), (c) => {
    const vendor = c.req.query('vendor') ?? ''
    if (!vendorOf(vendor)) return chooseVendorPage(c)
    return connectPage(c, { ...UNSENT, entered: new URLSearchParams({ vendor, name: vendorTitle(vendor) }) })
  })
  .route('/', create)
  .get('/:id', page('connections:read'), (c) => shown(c, UNSENT))
  .get('/:id/first', page('connections:read'), async (c) => {
    const of = await readArrivals(c)
    if (c.req.query('seen') === seenOf(of)) return c.body(null, 204)
    return c.html(FirstDelivery({ c, of, fresh: true }))
  })
  .route('/', change)
  .get('/:id/pause', page('connections:write'), async (c) => askPage(c, pausing(c, await find(c))))
  .get('/:id/disable', page('connections:write'), async (c) => askPage(c, disabling(c, await find(c))))
  .route('/', remove)
  .route('/', addSecret)
  .route('/', dropSecret)
  .route('/', setKey)
  .route('/', dropKey)
  .route('/', vendorEndpointActions(shown))
  .route('/', importActions(shown))
  .route('/', testEventAction(shown))
  .route('/', verificationPages)
  .route('/', refusalMutes)

/** What is asked before a connection is paused: a change of the connection. */
function pausing(c: Visit, row: ConnectionRow): Ask {
  return {
    ...placed(c, row, 'Pause connection'),
    danger: false,
    question: `Pause “${row.name}”?`,
    says: (
      <>
        <p>
          Deliveries are still verified and recorded, so {vendorTitle(row.vendor)} does not send them again. Their
          events are held: they change neither the billing state nor entitlements. Events that are being processed right
          now are still finished.
        </p>
        <p>
          When you resume the connection, the held events are processed: the oldest first, up to{' '}
          {MAX_RELEASED.toLocaleString('en')} a minute.
        </p>
      </>
    ),
    choice: <input type="hidden" name="status" value="paused" />,
    to: connectionPath(c, row),
  }
}

/** What is asked before a connection is disabled: a change of the connection. */
function disabling(c: Visit, row: ConnectionRow): Ask {
  const retries = guideOf(row.vendor)?.retries
  return {
    ...placed(c, row, 'Disable connection'),
    question: `Disable “${row.name}”?`,
    says: (
      <>
        <p>
          Every delivery will be refused with status 403, and no event will be recorded. Events that were already
          received stay, and are still processed.{row.held_as !== null && ' That includes the held ones.'}
        </p>
        <p>
          {retries ??
            'Most vendors send a refused delivery again for some hours or days. Some stop sending to an endpoint that keeps failing.'}{' '}
          Enable the connection before {vendorTitle(row.vendor)} stops retrying, or those events are missed.
        </p>
      </>
    ),
    choice: <input type="hidden" name="status" value="disabled" />,
    to: connectionPath(c, row),
  }
}

function placed(c: Visit, row: ConnectionRow, verb: string) {
  return { title: verb, section: 'connections', above: [row.name, connectionPath(c, row)], verb, danger: true } as const
}

function keyed(c: Visit) {
  const { project_id, id } = addressedConnection(c)
  return { project_id, connection_id: id }
}

function find(c: Visit) {
  const { project_id, id } = addressedConnection(c)
  return readConnection(c.get('rt').db, project_id, id)
}

/** The page of the connection. */
async function shown(c: Visit, sent: Sent) {
  const of = await readShownConnection(c)
  return inboxConnectionPage(c, { ...of, suggested: await suggestedSecret(c.get('rt'), of.row) }, sent)
}
