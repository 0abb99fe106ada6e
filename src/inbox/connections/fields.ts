import * as z from 'zod'
import { flagOrFalse, named, visibleText } from '../../http/fields'
import { VendorField } from '../../vendors/field'
import { MAX_CONNECTION_NAME, MAX_SECRET_LENGTH, MAX_TRIED_HEADER, MAX_TRIED_HEADERS } from './limits'
import { CONNECTION_STATUSES } from './schema'

export const ConnectionStatus = named('ConnectionStatus', z.enum(CONNECTION_STATUSES))

const signing_secret = z
  .string()
  .min(1)
  .max(MAX_SECRET_LENGTH)
  .describe('The secret as the vendor shows it, as one string. Write-only.')

export const livemode = z
  .boolean()
  .describe(
    "Whether the vendor's account is live. Set by you; applies to all events of the connection, including earlier ones. Billing state takes it, from the next event on, where the vendor does not say in which mode an object is.",
  )

export const customer_is_external_id = z
  .boolean()
  .describe(
    "Whether the ids of the vendor's customers are external ids of your consumers. Each event then links its customer to the consumer with that id, and metadata is not looked at. Only for vendors whose customers have ids that your server chooses. Applies to events that are processed from then on.",
  )

export const CreateBody = named(
  'CreateConnection',
  z.strictObject({
    vendor: VendorField,
    name: visibleText(MAX_CONNECTION_NAME),
    livemode,
    customer_is_external_id: customer_is_external_id.default(false),
    signing_secret: signing_secret
      .optional()
      .describe(
        'The secret as the vendor shows it, as one string. Write-only. If the vendor shows it only once it has the `ingest_url`, leave it out and add it later. Until then, every delivery is refused.',
      ),
  }),
  { vendor: 'stripe', name: 'Stripe', livemode: true, signing_secret: 'the secret as the vendor shows it' },
)

export const UpdateConnectionBody = named(
  'UpdateConnection',
  z
    .strictObject({
      name: visibleText(MAX_CONNECTION_NAME).optional(),
      status: ConnectionStatus.optional(),
      livemode: livemode.optional(),
      customer_is_external_id: customer_is_external_id.optional(),
    })
    .refine((changes) => Object.keys(changes).length > 0, {
      error: 'must have at least one field to change',
      params: { code: 'required' },
    }),
  { status: 'disabled' },
)

export const SecretBody = named('AddSigningSecret', z.strictObject({ signing_secret }), {
  signing_secret: 'the secret as the vendor shows it',
})

export const RemoveSecretQuery = z.strictObject({
  forget: flagOrFalse.describe('If true, no copy of the secret is kept. Set it if somebody else may know the secret.'),
})

export const TrialBody = named(
  'TryVerification',
  z.strictObject({
    body: z.string().describe('The body, exactly as it was sent.'),
    headers: z
      .record(
        z.string().regex(/^[A-Za-z0-9_-]{1,100}$/),
        z
          .string()
          .max(MAX_TRIED_HEADER)
          .regex(/^[\t\x20-\x7e\x80-\xff]*$/),
      )
      .refine((headers) => Object.keys(headers).length <= MAX_TRIED_HEADERS, {
        error: `must have at most ${MAX_TRIED_HEADERS} headers`,
        params: { code: 'out_of_range' },
      })
      .describe(`The headers by name, at most ${MAX_TRIED_HEADERS}.`),
  }),
  {
    body: '{"id":"evt_1","type":"order.paid"}',
    headers: { 'x-signature': '3f9a1c5e7b2d4f60813a5c7e9b1d3f507294b6d8fa1c3e5f70819a2b3c4d5e6f' },
  },
)
