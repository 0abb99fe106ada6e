import type { EndpointRow } from '../../../endpoints/endpoint'
import { CreateEndpoint, UpdateEndpoint } from '../../../endpoints/fields'
import { MAX_URL_LENGTH } from '../../../endpoints/limits'
import { choice, form, list, own, text, textsIn, tick } from '../../form'
import { pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { ChangeBoxes, ConnectionBoxes } from './boxes'
import { endpointPath } from './parts'
import type { Choosable, EditedEndpoint } from './read'

const SENDS = [
  ['changes', 'Changes in this project'],
  ['events', 'Vendor events, exactly as received'],
] as const

const isRelay = (sent: URLSearchParams) => sent.get('sends') === 'events'

/** The words of a field of a relay; null if there are none. */
function wordsIn(sent: URLSearchParams, name: string): string[] | null {
  const words = textsIn(sent, name)
  return words.length > 0 ? words : null
}

const fields = {
  url: text('Address', {
    required: true,
    type: 'url',
    maxlength: MAX_URL_LENGTH,
    hint: 'A public https URL, such as https://api.acme.com/webhooks.',
  }),
  // Shown for a new endpoint. It is not sent to the API, which sees it from what else is there.
  sends: choice('What to send', SENDS, { when: () => false }),
  types: list('Other change types', '\n', {
    rows: 3,
    when: (sent) => !isRelay(sent),
    hint: (
      <>
        Only needed for single types, such as <code>consumer.blocked</code>. One per line.
      </>
    ),
  }),
  include_object: tick('Include the object', {
    when: (sent) => !isRelay(sent),
    hint: 'Each delivery also contains the object, in its state at the time of sending.',
  }),
  relay: own(
    (_, sent) => ({
      connection_ids: wordsIn(sent, 'relay.connection_ids'),
      event_types: wordsIn(sent, 'relay.event_types'),
      replays: sent.get('relay.replays') === 'true',
    }),
    isRelay,
  ),
  'relay.connection_ids': list('Connections', '\n', { when: () => false }),
  'relay.event_types': list('Event types', '\n', {
    rows: 3,
    when: () => false,
    hint: (
      <>
        Use the vendor’s names, one per line. <code>invoice.*</code> matches all types that begin with{' '}
        <code>invoice.</code> Leave it empty to send all types.
      </>
    ),
  }),
  'relay.replays': tick('Send replayed events', {
    when: () => false,
    hint: 'An event is sent again each time a replay of it ends.',
  }),
  ordered: tick('Send one at a time, in order', {
    hint: 'A delivery that fails then holds back the ones after it.',
  }),
}
export const NEW_ENDPOINT = form(CreateEndpoint, fields)
export const CHANGED_ENDPOINT = form(UpdateEndpoint, fields)

const BLANK = new URLSearchParams({ sends: 'changes', types: 'subscription.*\nconsumer.*' })

/** What a new endpoint can be made of. `once`: the id that it will have, signed: see `onceOf`. */
type New = { once: string; connections: Choosable[] }

/** The form for a new endpoint. */
export function newEndpointPage(c: Visit, { once, connections }: New, { status, mistakes, entered = BLANK }: Sent) {
  const { endpoints } = pathsOf(c)
  return show(
    c,
    { title: 'Add endpoint', section: 'webhooks-out', status, above: ['Webhooks out', endpoints] },
    <>
      <Head title="Add endpoint" />
      <p class="quiet">
        We send what happens from now on to this address. The next page shows the secret that signs each request.
      </p>
      <Post c={c} to={endpoints} class="form once">
        <input type="hidden" name="once" value={once} autocomplete="off" />
        <Fields sent={{ status, mistakes, entered }} kinds={['changes', 'events']} connections={connections} />
        <SubmitOrCancel label="Add endpoint" back={endpoints} />
      </Post>
    </>,
  )
}

/** The form that changes an endpoint. */
export function editEndpointPage(c: Visit, { row, connections }: EditedEndpoint, sent: Sent) {
  const path = endpointPath(c, row.id)
  const entered = sent.entered ?? CHANGED_ENDPOINT.opened({ ...row, ...openedRelay(row) })
  const kind = row.relay ? 'events' : 'changes'
  return show(
    c,
    { title: 'Edit endpoint', section: 'webhooks-out', status: sent.status, above: [row.url, path] },
    <>
      <Head title="Edit endpoint" />
      <Post c={c} to={`${path}/edit`} class="form">
        <input type="hidden" name="sends" value={kind} autocomplete="off" />
        <Fields sent={{ ...sent, entered }} kinds={[kind]} connections={connections} />
        <SubmitOrCancel label="Save" back={path} />
      </Post>
    </>,
  )
}

/** The fields of a stored relay. */
function openedRelay({ relay }: EndpointRow) {
  if (!relay) return {}
  return {
    'relay.connection_ids': relay.connection_ids ?? [],
    'relay.event_types': relay.event_types ?? [],
    'relay.replays': relay.replays,
  }
}

type FieldsProps = { sent: Sent; kinds: readonly ('changes' | 'events')[]; connections: Choosable[] }

/** @param props.kinds what the endpoint can send. With both, the form asks which */
function Fields({ sent, kinds, connections }: FieldsProps) {
  const both = kinds.length > 1
  return (
    <>
      <Wrong>{sent.mistakes.form}</Wrong>
      {NEW_ENDPOINT.field('url', sent)}
      {both && NEW_ENDPOINT.field('sends', sent)}
      {kinds.includes('changes') && (
        <>
          {both && <h2>Changes</h2>}
          <ChangeBoxes sent={sent} others={(others) => NEW_ENDPOINT.field('types', others)} />
          {NEW_ENDPOINT.field('include_object', sent)}
        </>
      )}
      {kinds.includes('events') && (
        <>
          {both && <h2>Vendor events</h2>}
          <ConnectionBoxes sent={sent} connections={connections} />
          {NEW_ENDPOINT.field('relay.event_types', sent)}
          {NEW_ENDPOINT.field('relay.replays', sent)}
        </>
      )}
      {both && <h2>Order</h2>}
      {NEW_ENDPOINT.field('ordered', sent)}
    </>
  )
}
