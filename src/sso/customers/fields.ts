import * as z from 'zod'
import { ConsumerShown } from '../../consumers/fields'
import { MAX_CONSUMER_EMAIL } from '../../consumers/limits'
import { exampleOf, named, opaqueText, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { idPattern } from '../../lib/ids'
import { CODE_BYTES, MAX_APP_STATE, MAX_LOGIN_HINT, MAX_REDIRECT_URI } from '../limits'

const redirect_uri = opaqueText(MAX_REDIRECT_URI).min(1)

export const AuthorizeBody = named(
  'AuthorizeSso',
  z
    .strictObject({
      connection_id: z
        .string()
        .regex(idPattern('sso'), 'must be the id of a connection (sso_…)')
        .optional()
        .describe('The connection to sign in with. Send this or `email`.'),
      email: z
        .email()
        .max(MAX_CONSUMER_EMAIL)
        .optional()
        .describe(
          "The person's email address. Its domain decides which connection is used. It is also the `login_hint`, unless you send another.",
        ),
      redirect_uri: redirect_uri.describe(
        "Where the browser returns with the code: exactly one of the connection's `redirect_uris`.",
      ),
      state: opaqueText(MAX_APP_STATE)
        .min(1)
        .describe(
          'Returned unchanged with the code. Tie it to the browser session, so that nobody can be signed in with someone else’s code.',
        ),
      code_challenge: z
        .string()
        .regex(/^[\w-]{43}$/, 'must be a SHA-256 digest in base64url, without padding')
        .optional()
        .describe(
          'PKCE with S256 (RFC 7636): the SHA-256 of a random `code_verifier`, in base64url. The exchange of the code then takes the verifier, so a stolen code is of no use without it.',
        ),
      login_hint: opaqueText(MAX_LOGIN_HINT).min(1).optional().describe('Tells the provider whom to expect.'),
    })
    .refine((sent) => (sent.connection_id === undefined) !== (sent.email === undefined), {
      error: 'must have either connection_id or email',
      params: { code: 'required' },
    }),
  { email: SAMPLE.email, redirect_uri: 'https://app.example.com/sso/callback', state: 'c5d7e9f2' },
)

export const Authorization = named(
  'SsoAuthorization',
  z.object({
    url: z.string().describe('Send the browser there. It works once.'),
    expires_at: timestamp.describe('The browser must open it by then. The sign-in may take ten minutes from there.'),
  }),
  { url: `https://api.example.com/sso/login/${SAMPLE.login}`, expires_at: SAMPLE.later },
)

export const ExchangeBody = named(
  'ExchangeSsoCode',
  z.strictObject({
    code: opaqueText(CODE_BYTES * 4).min(1),
    redirect_uri: redirect_uri.describe('The address that got the code.'),
    code_verifier: z
      .string()
      .regex(/^[\w.~-]{43,128}$/, 'must have 43 to 128 letters, digits and characters of . _ ~ -')
      .optional()
      .describe('The text whose SHA-256 was the `code_challenge`. Required if there was one, and refused if not.'),
  }),
  {
    code: '3f9a1c5e7b2d4f60813a5c7e9b1d3f507294b6d8fa1c3e5f70819a2b3c4d5e6f',
    redirect_uri: 'https://app.example.com/sso/callback',
  },
)

const identity = z.object({
  id: z.string(),
  connection_id: z.string(),
  issuer: z.string(),
  subject: z.string().describe("The provider's id for the person. It is unique within the issuer."),
  email: z.string().nullable(),
  email_verified: z
    .boolean()
    .describe(
      'Whether the provider says that the address is verified. A provider can claim this about any address, so do not look up accounts by it. Use `consumer`.',
    ),
  name: z.string().nullable(),
  claims: z.record(z.string(), z.unknown()).describe('What the provider says about the person.'),
  authenticated_at: timestamp,
})
/** Who has signed in, as the provider describes them. It waits with the code until the code is exchanged. */
export type SignedInIdentity = z.infer<typeof identity>

export const SsoSignIn = named(
  'SsoSignIn',
  z.object({
    consumer: ConsumerShown,
    created: z.boolean().describe('Whether this sign-in created the consumer.'),
    identity: named('SignedInIdentity', identity),
  }),
  {
    consumer: exampleOf(ConsumerShown),
    created: false,
    identity: {
      id: 'idn_01kc5y4d6f8h0k2m4p6r8t0v2x',
      connection_id: 'sso_01kc5y2b4d6f8h0k2n4p6q8s0v',
      issuer: 'https://acme.okta.com',
      subject: '00u1a2b3c4',
      email: SAMPLE.email,
      email_verified: true,
      name: 'Ada Lovelace',
      claims: { groups: ['engines'] },
      authenticated_at: SAMPLE.later,
    },
  },
)
