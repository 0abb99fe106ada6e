import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { HttpEnv } from '../../../http/context'
import type { ConnectionRow } from '../../../inbox/connections/connection'
import { notFound } from '../../../lib/fault'
import { Confirm } from '../../ui/confirm'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { lastOf, pathOf, secretName } from './describe'
import { guideOf } from './guides'

/** Asks before a connection is deleted. */
export function deletePage(c: Context<HttpEnv>, row: ConnectionRow) {
  return confirmPage(
    c,
    row,
    { title: `Delete “${row.name}”?`, to: 'delete', verb: 'Delete connection' },
    <p>
      The ingest URL will return 404 permanently, and the signing secrets will be deleted. The events and the billing
      state will be kept. Also remove the webhook at {vendorTitle(row.vendor)}, or it keeps sending. Last event
      received: <Time at={lastOf(row)} now={c.get('rt').now} none="never" />.
    </p>,
  )
}

/** Asks before a connection is disabled. */
export function disablePage(c: Context<HttpEnv>, row: ConnectionRow) {
  const retries = guideOf(row.vendor)?.retries
  return confirmPage(
    c,
    row,
    { title: `Disable “${row.name}”?`, to: '', verb: 'Disable connection' },
    <>
      <p>
        Every delivery will be refused with status 403, and no event will be recorded. Events that were already received
        stay, and are still processed.
      </p>
      <p>
        {retries ??
          'Most vendors send a refused delivery again for some hours or days. Some stop sending to an endpoint that keeps failing.'}{' '}
        Enable the connection before {vendorTitle(row.vendor)} stops retrying, or those events are missed.
      </p>
    </>,
    <input type="hidden" name="status" value="disabled" />,
  )
}

/** Asks before a signing secret is removed. */
export function removeSecretPage(c: Context<HttpEnv>, row: ConnectionRow, id: string) {
  const secret = row.secrets.find((one) => one.id === id)
  if (!secret) throw notFound('Signing secret')
  const others = row.secrets.length - 1
  const title = `Remove the ${secretName(secret.hint)}?`
  return confirmPage(
    c,
    row,
    { title, to: `secrets/${id}/remove`, verb: 'Remove secret' },
    <>
      <p>
        Deliveries signed with this secret will be refused immediately. Last used:{' '}
        <Time at={row.secrets_used[id] ?? null} now={c.get('rt').now} none="never" />.
      </p>
      <p>
        {others === 0 ? (
          <strong>This is the only signing secret. Without it, the connection refuses every delivery.</strong>
        ) : (
          `${plural(others, 'other secret')} will keep working.`
        )}
      </p>
    </>,
  )
}

function confirmPage(
  c: Context<HttpEnv>,
  row: ConnectionRow,
  ask: { title: string; to: string; verb: string },
  what: Child,
  choice?: Child,
) {
  const at = pathOf(c, row)
  return show(
    c,
    { title: ask.verb, section: 'connections', above: [row.name, at] },
    <Confirm
      c={c}
      title={ask.title}
      to={`${at}${ask.to && `/${ask.to}`}`}
      verb={ask.verb}
      back={at}
      choice={choice}
      danger
    >
      {what}
    </Confirm>,
  )
}
