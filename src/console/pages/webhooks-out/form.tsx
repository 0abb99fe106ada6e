import type { EndpointRow } from '../../../endpoints/endpoint'
import { CreateEndpoint, UpdateEndpoint } from '../../../endpoints/fields'
import { MAX_URL_LENGTH } from '../../../endpoints/limits'
import { CHANGE_OBJECTS } from '../../../feed/types'
import { form, list, text, tick } from '../../form'
import { pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { endpointPath } from './parts'

const fields = {
  url: text('Address', {
    required: true,
    type: 'url',
    maxlength: MAX_URL_LENGTH,
    hint: 'An https address on the public internet, such as https://api.acme.com/webhooks.',
  }),
  types: list('Types of changes', '\n', {
    rows: 6,
    hint: (
      <>
        One per line. <code>subscription.*</code> stands for all types that begin with <code>subscription.</code> There
        are: {CHANGE_OBJECTS.map((object) => `${object}.*`).join(', ')}.
      </>
    ),
  }),
  ordered: tick('Send one change at a time, in order', {
    hint: 'A change that your server does not take then holds up those after it.',
  }),
  include_object: tick('Include the object', {
    hint: 'Each change then also has the object as it is when the change is sent.',
  }),
}
export const NEW_ENDPOINT = form(CreateEndpoint, fields)
export const CHANGED_ENDPOINT = form(UpdateEndpoint, fields)

const BLANK = new URLSearchParams({ types: 'subscription.*\nconsumer.*' })

/** The form for a new endpoint. @param once the id that it will have, signed: see `onceOf` */
export function newEndpointPage(c: Visit, once: string, { status, mistakes, entered = BLANK }: Sent) {
  const { endpoints } = pathsOf(c)
  return show(
    c,
    { title: 'Add endpoint', section: 'webhooks-out', status, above: ['Webhooks out', endpoints] },
    <>
      <Head title="Add endpoint" />
      <p class="quiet">Changes from now on are sent to this address. The next page shows the secret that signs them.</p>
      <Post c={c} to={endpoints} class="form once">
        <input type="hidden" name="once" value={once} autocomplete="off" />
        <Fields sent={{ status, mistakes, entered }} />
        <SubmitOrCancel label="Add endpoint" back={endpoints} />
      </Post>
    </>,
  )
}

/** The form that changes an endpoint. */
export function editEndpointPage(c: Visit, row: EndpointRow, sent: Sent) {
  const path = endpointPath(c, row.id)
  const entered = sent.entered ?? CHANGED_ENDPOINT.opened(row)
  return show(
    c,
    { title: 'Edit endpoint', section: 'webhooks-out', status: sent.status, above: [row.url, path] },
    <>
      <Head title="Edit endpoint" />
      <Post c={c} to={`${path}/edit`} class="form">
        <Fields sent={{ ...sent, entered }} />
        <SubmitOrCancel label="Save" back={path} />
      </Post>
    </>,
  )
}

function Fields({ sent }: { sent: Sent }) {
  return (
    <>
      <Wrong>{sent.mistakes.form}</Wrong>
      {NEW_ENDPOINT.field('url', sent)}
      {NEW_ENDPOINT.field('types', sent)}
      {NEW_ENDPOINT.field('ordered', sent)}
      {NEW_ENDPOINT.field('include_object', sent)}
    </>
  )
}
