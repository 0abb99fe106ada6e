import * as z from 'zod'
import { exampleOf, named, visibleText } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { MAX_TEXT, MOST_OF_A_TYPE } from './limits'
import { looksSecret } from './text'

export const FOUND_TYPES = [
  'consumer',
  'grant',
  'device',
  'customer',
  'subscription',
  'invoice',
  'payment_method',
  'purchase',
  'event',
  'replay',
  'plan',
  'feature',
  'api_key',
  'connection',
  'import',
  'webhook_endpoint',
  'member',
  'invitation',
  'domain',
  'sso_connection',
  'audit_entry',
  'project',
] as const
export type FoundType = (typeof FOUND_TYPES)[number]

export const FindQuery = z.strictObject({
  // An address is kept in histories and logs.
  q: visibleText(MAX_TEXT)
    .refine(
      (text) => !looksSecret(text),
      'looks like a secret: search for the part that lists show, such as svc_v1_3f9a',
    )
    .describe('An id of ours or of a vendor, or a name or a part of one. See the description of the call.'),
})

const FoundShown = named(
  'SearchResult',
  z.object({
    type: named('SearchResultType', z.enum(FOUND_TYPES)).describe('Types may be added, so expect others too.'),
    id: z.string().describe('The id of the object, or the key of a feature.'),
    title: z.string().describe('The name of the object, or its id if it has none.'),
    detail: z
      .string()
      .nullable()
      .describe('A detail that tells it apart from others with the same name, such as an email address or a status.'),
    vendor: z.string().nullable().describe('The vendor that made the id. Null if the id is one of ours.'),
    consumer_id: z.string().nullable().describe('Of a grant or a device: the id of its consumer. Null for the others.'),
    livemode: z
      .boolean()
      .nullable()
      .describe('Of an event, a billing object or a connection: false if it is of test mode. Null for the others.'),
  }),
  {
    type: 'consumer',
    id: SAMPLE.consumer,
    title: 'Ada Lovelace',
    detail: SAMPLE.email,
    vendor: null,
    consumer_id: null,
    livemode: null,
  },
)
export type FoundObject = z.infer<typeof FoundShown>

export const FoundList = named(
  'SearchResults',
  z.object({
    data: z.array(FoundShown).describe(`At most ${MOST_OF_A_TYPE} of each type.`),
    complete: z
      .boolean()
      .describe('False if members, invitations, domains, single sign-on and projects could not be read just now.'),
  }),
  { data: [exampleOf(FoundShown)], complete: true },
)
