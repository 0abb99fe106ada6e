import * as z from 'zod'
import { changeId } from '../feed/fields'
import { MAX_NAMED_TYPE_LENGTH, MAX_NAMED_TYPES } from '../feed/limits'
import { CHANGE_TYPES, typesNamed } from '../feed/types'
import { DISABLED_REASONS, ENDPOINT_STATES, type Relay } from '../followers/schema'
import { count, exampleOf, named, timestamp } from '../http/fields'
import { SAMPLE } from '../http/samples'
import type { Scope } from '../lib/access'
import { iso, isoOrNull } from '../lib/time'
import { Holder, holderOf } from '../tenancy/holder'
import type { EndpointRow } from './endpoint'
import { MAX_ENDPOINT_SECRETS, MAX_URL_LENGTH, SECRET_HINT } from './limits'
import { SENT_OBJECTS } from './objects'
import { checkKind, RelayField, RelayShown } from './relay-fields'
import { SECRET_PREFIX } from './sign'

const url = z
  .url()
  .max(MAX_URL_LENGTH)
  // It must have the host that it seems to have: the parser adds slashes, takes a backslash for one, and leaves out what is invisible.
  .refine(
    (text) => /^[a-z]+:\/\/[^/][!-~]*$/i.test(text) && !text.includes('\\'),
    'must have two slashes before its host, and only visible ASCII characters without a backslash',
  )
  .describe('Where changes are sent: an `https` address with a host name on the public internet, on port 443.')

/** A list of types, which may be written as `subscription.*`. */
export const typeList = z
  .array(z.string().max(MAX_NAMED_TYPE_LENGTH))
  .min(1)
  .max(MAX_NAMED_TYPES)
  .superRefine((words, { issues }) => {
    const unknown = words.find((word) => typesNamed(word).length === 0)
    if (unknown !== undefined)
      issues.push({ code: 'custom', message: `is not a type of change: ${unknown}`, input: words })
  })
  .describe(
    'The types of changes that are sent. `subscription.*` stands for all types that begin with `subscription.`.',
  )

const ordered = z.boolean().describe('Whether one change is sent at a time. If one fails, the changes after it wait.')
const include_object = z
  .boolean()
  .describe(
    `Whether \`data\` also has \`current\`: the object in its state at the time of sending. These objects have it: ${SENT_OBJECTS.join(', ')}. Subscriptions, invoices and payment methods are sent without \`consumer_id\`.`,
  )

const relay = RelayField.describe(
  'Sends the events of vendors byte for byte, instead of changes. Pass either `types` or `relay`. You need the scope `billing:read`.',
)

export const CreateEndpoint = named(
  'CreateWebhookEndpoint',
  z
    .strictObject({
      url,
      types: typeList.optional(),
      relay: relay.optional(),
      ordered: ordered.default(false),
      include_object: include_object.default(false),
    })
    .superRefine(checkKind),
  { url: 'https://api.acme.com/webhooks', types: ['subscription.*', 'entitlements.changed'] },
)

export const UpdateEndpoint = named(
  'UpdateWebhookEndpoint',
  z
    .strictObject({
      url: url.optional(),
      types: typeList.optional(),
      relay: relay.optional(),
      ordered: ordered.optional(),
      include_object: include_object.optional(),
      state: named('SetWebhookEndpointState', z.enum(['active', 'disabled'])).optional(),
    })
    .refine((changes) => Object.keys(changes).length > 0, {
      error: 'must have at least one field to change',
      params: { code: 'required' },
    }),
  { state: 'active' },
)

export const EndpointShown = named(
  'WebhookEndpoint',
  z.object({
    id: z.string(),
    url: z.string(),
    types: z.array(z.string()).describe('Empty if it has `relay`.'),
    relay: RelayShown.nullable().describe('Null if changes are sent.'),
    ordered: z.boolean(),
    include_object: z.boolean(),
    state: named('WebhookEndpointState', z.enum(ENDPOINT_STATES)).describe(
      '`failing`: five changes in a row have failed, and it gets one attempt at a time until one succeeds. `disabled`: nothing is sent.',
    ),
    disabled_reason: named('WebhookEndpointDisabledReason', z.enum(DISABLED_REASONS))
      .nullable()
      .describe(
        '`requested`: a call disabled it. `gone`: it responded with 410. `failing`: every attempt failed for five days.',
      ),
    secrets: z
      .array(
        z.object({
          id: z.string(),
          hint: z.string().describe(`The last ${SECRET_HINT} characters.`),
          created_at: timestamp,
          added_by: Holder,
        }),
      )
      .describe(`The secrets that sign, 1 to ${MAX_ENDPOINT_SECRETS}. Each request is signed with all of them.`),
    position: z
      .string()
      .describe(
        'The id of the last change that was sent or is waiting for a retry. Pass it as `after` to `GET /changes` to list the next ones.',
      ),
    behind: count.describe('How many changes of the project come after `position`, including those of other types.'),
    next_attempt_at: timestamp
      .nullable()
      .describe('When the next attempt is made, if the endpoint has to wait; else null.'),
    failing_since: timestamp
      .nullable()
      .describe('Since when every attempt has failed; null if the last one succeeded.'),
    last_success_at: timestamp.nullable(),
    last_failure_at: timestamp.nullable(),
    created_at: timestamp,
    created_by: Holder,
  }),
  {
    id: SAMPLE.endpoint,
    url: 'https://api.acme.com/webhooks',
    types: ['subscription.*', 'entitlements.changed'],
    relay: null,
    ordered: false,
    include_object: false,
    state: 'active',
    disabled_reason: null,
    secrets: [
      { id: SAMPLE.secret, hint: 'Xy7Q', created_at: SAMPLE.time, added_by: { type: 'user', id: SAMPLE.user } },
    ],
    position: SAMPLE.change,
    behind: 0,
    next_attempt_at: null,
    failing_since: null,
    last_success_at: SAMPLE.time,
    last_failure_at: null,
    created_at: SAMPLE.time,
    created_by: { type: 'user', id: SAMPLE.user },
  },
)

const secret = z
  .string()
  .nullable()
  .describe(
    `The new secret: \`${SECRET_PREFIX}\` and base64. It is shown only once, so it is null if the request is repeated with its Idempotency-Key.`,
  )

export const EndpointWithSecret = named('WebhookEndpointWithSecret', z.object({ endpoint: EndpointShown, secret }), {
  endpoint: exampleOf(EndpointShown),
  secret: 'the new secret, once',
})

/**
 * The scopes that one needs to read what an endpoint gets. `webhooks:read` is left out: callers who may change endpoints see these
 * changes anyway.
 */
export function scopesOf({ types, relay }: { types: readonly string[]; relay: Relay | null }): Scope[] {
  if (relay) return ['billing:read']
  const scopes = types.flatMap(typesNamed).map((type) => CHANGE_TYPES[type].scope)
  return [...new Set(scopes)].filter((scope) => scope !== 'webhooks:read')
}

export function presentEndpoint(row: EndpointRow, now: number): z.infer<typeof EndpointShown> {
  const { id, url, types, relay, ordered, include_object, state, disabled_reason, epoch, position } = row
  return {
    ...{ id, url, types, relay, ordered, include_object, state, disabled_reason },
    secrets: row.secrets.map((one) => ({
      id: one.id,
      hint: one.hint,
      created_at: iso(one.created_at),
      added_by: holderOf(one.added_by),
    })),
    position: changeId({ epoch, number: position }),
    behind: Math.max(0, row.head - position),
    next_attempt_at: state !== 'disabled' && row.not_before > now ? iso(row.not_before) : null,
    failing_since: isoOrNull(row.failing_since),
    last_success_at: isoOrNull(row.last_success_at),
    last_failure_at: isoOrNull(row.last_failure_at),
    created_at: iso(row.created_at),
    created_by: holderOf(row.created_by),
  }
}
