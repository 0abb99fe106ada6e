import { Hono } from 'hono'
import { deleteEndpoint } from '../../../endpoints/change'
import type { EndpointRow } from '../../../endpoints/endpoint'
import { changeEndpoint } from '../../../endpoints/permitted'
import { resendOne, resendRange } from '../../../endpoints/resend'
import { addEndpointSecret, removeEndpointSecret } from '../../../endpoints/secrets'
import { sendTest } from '../../../endpoints/test-send'
import { KEPT_DAYS } from '../../../feed/limits'
import { changeOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { notFound } from '../../../lib/fault'
import { action, leadTo } from '../../action'
import { pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { endpointPage } from './endpoint'
import { CHANGED_ENDPOINT, editEndpointPage } from './form'
import { endpointPath } from './parts'
import { addressedEndpoint, readEditedEndpoint, readEndpoint, readShownEndpoint } from './read'
import { askRange, RESEND } from './resends'
import { secretPage } from './secret'
import { secretsKnown } from './secrets'

const needs = 'webhooks:write'
const idOf = (c: Visit) => addressedEndpoint(c).endpoint_id
const pathOf = (c: Visit) => endpointPath(c, idOf(c))

const edit = action({
  at: '/:id/edit',
  needs,
  read: readEditedEndpoint,
  ask: editEndpointPage,
  run: (c) => changeEndpoint(c, idOf(c), CHANGED_ENDPOINT.body(c.get('form'))),
  done: (c) => [pathOf(c), 'endpoint_updated'],
})

const enable = action({
  posts: '/:id/enable',
  needs,
  run: (c) => changeEndpoint(c, idOf(c), { state: 'active' }),
  done: (c) => [pathOf(c), 'endpoint_enabled'],
})

const disable = action({
  at: '/:id/disable',
  needs,
  read: readEndpoint,
  ask: (c, row) => ({
    ...placed(c, row, 'Disable endpoint'),
    says: (
      <p>
        We send nothing to {row.url} until you enable the endpoint again. Delivery then resumes where it stopped.
        Changes are kept for {KEPT_DAYS} days.
      </p>
    ),
  }),
  run: (c) => changeEndpoint(c, idOf(c), { state: 'disabled' }),
  done: (c) => [pathOf(c), 'endpoint_disabled'],
})

const remove = action({
  at: '/:id/delete',
  needs,
  counted: { ends: true },
  read: readEndpoint,
  ask: (c, row) => ({
    ...placed(c, row, 'Delete endpoint'),
    says: (
      <p>We stop sending to {row.url}. The secrets and the log of the endpoint are deleted. This cannot be undone.</p>
    ),
  }),
  run: (c) => deleteEndpoint(c.get('rt').db, addressedEndpoint(c), changeOf(c)),
  done: (c) => [pathsOf(c).endpoints, 'endpoint_deleted'],
})

/** The form names the secrets that were there, so that it adds one only once. */
const addSecret = action({
  posts: '/:id/secrets',
  needs,
  run: async (c) => {
    const known = c.get('form').get('known')
    if (known !== null && known !== secretsKnown(await readEndpoint(c))) {
      return leadTo(c, pathOf(c), 'endpoint_secret_added_before')
    }
    const { row, secret } = await addEndpointSecret(c.get('rt'), addressedEndpoint(c), changeOf(c))
    return secretPage(c, row, secret)
  },
  done: (_, response) => response,
  again: shown,
})

const dropSecret = action({
  at: '/:id/secrets/:secret/remove',
  needs,
  counted: { ends: true },
  read: readEndpoint,
  ask: (c, row) => {
    const secret = row.secrets.find(({ id }) => id === c.req.param('secret'))
    if (!secret) throw notFound('Secret')
    return {
      ...placed(c, row, 'Remove secret'),
      question: `Remove the secret that ends in ${secret.hint}?`,
      says: (
        <p>New requests are no longer signed with it. Make sure that your server accepts one of the other secrets.</p>
      ),
    }
  },
  run: (c) => removeEndpointSecret(c.get('rt').db, addressedEndpoint(c), c.req.param('secret') ?? '', changeOf(c)),
  done: (c) => [pathOf(c), 'endpoint_secret_removed'],
})

const test = action({
  posts: '/:id/test',
  needs,
  run: (c) => sendTest(c.get('rt'), addressedEndpoint(c)),
  done: (c, { id }) => [`${pathOf(c)}?test=${id}`],
  again: shown,
  explains: { rate_limited: true },
})

const resend = action({
  posts: '/:id/deliveries/:number/resend',
  needs,
  run: (c) => {
    const number = c.req.param('number') ?? ''
    if (!/^[1-9]\d{0,14}$/.test(number)) throw notFound('Change', 'of a type that the endpoint receives')
    return resendOne(c.get('rt').db, addressedEndpoint(c), Number(number), changeOf(c))
  },
  done: (c) => [pathOf(c), 'changes_resent'],
  again: shown,
})

const range = action({
  at: '/:id/resend',
  needs,
  read: readEndpoint,
  ask: askRange,
  run: (c) => {
    const { types = null, ...asked } = RESEND.body(c.get('form'))
    return resendRange(c.get('rt').db, addressedEndpoint(c), { ...asked, types }, changeOf(c))
  },
  done: (c) => [pathOf(c), 'changes_resent'],
})

export const endpointActions = [edit, enable, disable, remove, addSecret, dropSecret, test, resend, range].reduce(
  (pages, one) => pages.route('/', one),
  new Hono<HttpEnv>(),
)

function placed(c: Visit, { id, url }: EndpointRow, verb: string) {
  return { title: verb, section: 'webhooks-out', above: [url, endpointPath(c, id)], verb, danger: true } as const
}

/** The page of the endpoint. */
export async function shown(c: Visit, sent: Sent) {
  return endpointPage(c, await readShownEndpoint(c), sent)
}
