import * as z from 'zod'
import { exampleOf, named, timestamp, visibleText } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { AUDIENCES, AUTH_METHODS, CONNECTION_STATES, DEFAULT_ROLES } from '../../identities/values'
import { idPattern } from '../../lib/ids'
import {
  MAX_CLAIM,
  MAX_CLIENT_ID,
  MAX_CLIENT_SECRET,
  MAX_CONNECTION_DOMAINS,
  MAX_ISSUER,
  MAX_REDIRECT_URI,
  MAX_REDIRECT_URIS,
  MAX_SCOPE,
  MAX_SCOPES,
  MAX_SSO_CONNECTION_NAME,
} from '../limits'
import { isAscii, isRedirectUri } from './rules'

const audience = named('SsoAudience', z.enum(AUDIENCES)).describe(
  'Who signs in: `team`, people to the console and the API of this project; `customers`, the users of your product.',
)
const unique = <T extends z.ZodArray>(list: T) =>
  list.refine((values) => new Set(values).size === values.length, 'must not name a value twice')
const domainId = z.string().regex(idPattern('dom'), 'must be the id of a domain')

const client = {
  client_id: z
    .string()
    .min(1)
    .max(MAX_CLIENT_ID)
    .regex(/^[\x20-\x7e]+$/, 'must have only ASCII characters'),
  client_secret: z
    .string()
    .min(1)
    .max(MAX_CLIENT_SECRET)
    .regex(/^[\x20-\x7e]+$/, 'must have only ASCII characters')
    .nullable()
    .describe('Stored encrypted, and never returned. Null for a client without one.'),
  auth_method: named('SsoAuthMethod', z.enum(AUTH_METHODS)).describe(
    'How the client authenticates at the token endpoint. By default `client_secret_basic`, or `none` for a client without a secret.',
  ),
  scopes: unique(
    z
      .array(
        z
          .string()
          .max(MAX_SCOPE)
          .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a scope of OAuth'),
      )
      .max(MAX_SCOPES),
  )
    .refine((scopes) => scopes.includes('openid'), 'must include openid')
    .describe('What the provider is asked for. By default `openid`, `email` and `profile`.'),
  claims: z
    .strictObject({ email: z.string().min(1).max(MAX_CLAIM), name: z.string().min(1).max(MAX_CLAIM) })
    .describe('The claims with the email address and the name of a person. By default `email` and `name`.'),
}
const common = {
  name: visibleText(MAX_SSO_CONNECTION_NAME).describe('Shown to people who sign in.'),
  ...client,
  domain_ids: unique(z.array(domainId).max(MAX_CONNECTION_DOMAINS)).describe(
    'Domains of the project, with the purpose `sso`, whose addresses this connection may vouch for.',
  ),
  default_role: named('SsoDefaultRole', z.enum(DEFAULT_ROLES))
    .nullable()
    .describe('`team`: the role of people who sign in and are not members yet. Null: they must be invited.'),
  create_consumers: z.boolean().describe('`customers`: whether the sign-in of a new person creates a consumer.'),
  redirect_uris: unique(
    z
      .array(
        z
          .string()
          .max(MAX_REDIRECT_URI)
          .refine(
            isRedirectUri,
            'must begin with https:// (or with http:// on localhost), without a fragment or a backslash',
          ),
      )
      .max(MAX_REDIRECT_URIS),
  ).describe('`customers`: the addresses of your product that people are sent back to. They are compared exactly.'),
  surface_id: domainId
    .nullable()
    .describe('`customers`: the domain, with the purpose `surface`, whose host shows the sign-in.'),
}

export const CreateSsoConnection = named(
  'CreateSsoConnection',
  z.strictObject({
    audience,
    issuer: z
      .string()
      .max(MAX_ISSUER)
      .refine(isAscii, 'must be an address')
      .describe('The issuer identifier of the provider, exactly. It cannot change.'),
    ...common,
    client_secret: common.client_secret.optional(),
    auth_method: common.auth_method.optional(),
    scopes: common.scopes.default(['openid', 'email', 'profile']),
    claims: common.claims.default({ email: 'email', name: 'name' }),
    domain_ids: common.domain_ids.default([]),
    default_role: common.default_role.optional(),
    create_consumers: common.create_consumers.optional(),
    redirect_uris: common.redirect_uris.optional(),
    surface_id: common.surface_id.optional(),
  }),
  {
    audience: 'team',
    name: 'Acme',
    issuer: 'https://login.acme.com',
    client_id: 'platform-api',
    client_secret: 'the secret that the provider shows',
    domain_ids: [SAMPLE.domain],
    default_role: 'viewer',
  },
)
export type NewFields = z.infer<typeof CreateSsoConnection>

export const ChangeBody = named(
  'ChangeSsoConnection',
  z
    .strictObject({
      ...common,
      enforce: z
        .boolean()
        .describe('`team`: whether members must sign in with this connection, except owners with break-glass access.'),
    })
    .partial()
    .refine((changes) => Object.keys(changes).length > 0, {
      error: 'must have at least one field',
      params: { code: 'required' },
    }),
  { name: 'Acme' },
)
export type ChangedFields = z.infer<typeof ChangeBody>

export const SsoConnectionShown = named(
  'SsoConnection',
  z.object({
    id: z.string(),
    audience,
    name: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    has_secret: z.boolean(),
    auth_method: client.auth_method,
    scopes: z.array(z.string()),
    claims: z.object({ email: z.string(), name: z.string() }),
    domains: z.array(
      z.object({ id: z.string(), hostname: z.string(), verified: z.boolean().describe('Whether it is verified now.') }),
    ),
    default_role: common.default_role,
    create_consumers: z.boolean().nullable(),
    redirect_uris: z.array(z.string()).nullable(),
    surface_id: z.string().nullable(),
    callback_url: z
      .string()
      .describe('The redirect URI to enter at the provider. It belongs to this connection alone.'),
    state: named('SsoConnectionState', z.enum(CONNECTION_STATES)),
    enforce: z.boolean().describe('Whether the project enforces this connection.'),
    tested_at: timestamp
      .nullable()
      .describe('When a test last passed. Null if none has passed since the last change of the client or the claims.'),
    last_used_at: timestamp.nullable(),
    discovery: z
      .object({ ok: z.boolean(), detail: z.string().nullable(), checked_at: timestamp })
      .nullable()
      .describe(
        'Whether the discovery document of the provider could be used: when the connection was created, or in the last test run.',
      ),
    created_at: timestamp,
  }),
  {
    id: SAMPLE.ssoConnection,
    audience: 'team',
    name: 'Acme',
    issuer: 'https://login.acme.com',
    client_id: 'platform-api',
    has_secret: true,
    auth_method: 'client_secret_basic',
    scopes: ['openid', 'email', 'profile'],
    claims: { email: 'email', name: 'name' },
    domains: [{ id: SAMPLE.domain, hostname: 'acme.com', verified: true }],
    default_role: 'viewer',
    create_consumers: null,
    redirect_uris: null,
    surface_id: null,
    callback_url: `https://api.example.com/sso/callback/${SAMPLE.ssoConnection}`,
    state: 'active',
    enforce: false,
    tested_at: SAMPLE.time,
    last_used_at: null,
    discovery: { ok: true, detail: null, checked_at: SAMPLE.time },
    created_at: SAMPLE.time,
  },
)

export const IdentityShown = named(
  'SsoIdentity',
  z.object({
    id: z.string(),
    connection_id: z.string(),
    issuer: z.string(),
    subject: z.string().describe('The `sub` of the person at the provider.'),
    user_id: z.string().nullable().describe('The user it belongs to, if the connection is for the team.'),
    consumer_id: z.string().nullable().describe('The consumer it belongs to, if the connection is for customers.'),
    email: z
      .string()
      .nullable()
      .describe(
        'The email address that the provider sent. For the team, it is from when the identity was linked; for customers, from the last sign-in. Only the provider vouches for it.',
      ),
    created_at: timestamp,
    authenticated_at: timestamp.describe('When it last signed in.'),
  }),
  {
    id: SAMPLE.identity,
    connection_id: SAMPLE.ssoConnection,
    issuer: exampleOf(SsoConnectionShown).issuer,
    subject: '248289761001',
    user_id: SAMPLE.user,
    consumer_id: null,
    email: SAMPLE.email,
    created_at: SAMPLE.time,
    authenticated_at: SAMPLE.time,
  },
)
