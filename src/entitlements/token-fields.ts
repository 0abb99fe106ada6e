import * as z from 'zod'
import { MAX_FEATURES, MAX_KEY } from '../catalog/limits'
import { named, timestamp } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { iso } from '../lib/time'
import type { KeyRow } from './keys-store'
import { DEFAULT_TTL_S, MAX_TTL_S, MIN_TTL_S } from './limits'
import { KEY_STATES } from './schema'
import { jwkOf } from './signing'

/** The path of what a project publishes. With our address, it is the issuer of its tokens. */
export const issuerPath = (projectId: string) => `/p/${projectId}`

export const TokenBody = named(
  'CreateEntitlementToken',
  z.strictObject({
    ttl_s: z
      .int()
      .min(MIN_TTL_S)
      .max(MAX_TTL_S)
      .default(DEFAULT_TTL_S)
      .describe('The maximum lifetime of the token (seconds).'),
    features: z
      .array(z.string().min(1).max(MAX_KEY))
      .min(1)
      .max(MAX_FEATURES)
      .optional()
      .describe('Keys of features. Without it, the token covers all features of the catalog.'),
    device: z
      .string()
      .min(1)
      .optional()
      .describe('The id of an active device of the consumer, for the claim `device`.'),
  }),
  { ttl_s: DEFAULT_TTL_S, features: ['seats'] },
)

export const Token = named(
  'EntitlementToken',
  z.object({
    token: z.string().describe('A JWS in its compact form.'),
    expires_at: timestamp.describe('When the token expires.'),
  }),
  { token: 'eyJhbGciOiJFUzI1NiIsImtpZCI6….eyJpc3MiOiJodHRwczov….MEUCIQDx…', expires_at: SAMPLE.later },
)

export const RotateBody = named(
  'RotateEntitlementKey',
  z.strictObject({
    compromised: z
      .boolean()
      .default(false)
      .describe(
        'Whether someone else may have a key. All keys of the project are then replaced at once, and tokens that they have signed are no longer valid.',
      ),
  }),
  { compromised: false },
)

const KeyStateName = named('EntitlementKeyState', z.enum(KEY_STATES))
const SAMPLE_POINT = {
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
}
const SAMPLE_KID = 'oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U'

/** The keys of a project as its administrators see them. */
export const Keys = named(
  'EntitlementKeys',
  z.object({
    data: z.array(
      z.object({
        kid: z.string().describe('The id of the key: its thumbprint (RFC 7638).'),
        state: KeyStateName.describe(
          '`current` signs. `next` is published and will sign. `retired` is still published for the tokens that it has signed.',
        ),
        created_at: timestamp,
      }),
    ),
  }),
  { data: [{ kid: SAMPLE_KID, state: 'current', created_at: SAMPLE.time }] },
)

export function presentKey({ created_at, state_at: _, ...row }: KeyRow) {
  return { ...row, created_at: iso(created_at) }
}

/** The public keys of a project: a JWK set (RFC 7517). */
export const Jwks = named(
  'JsonWebKeySet',
  z.object({
    keys: z.array(
      z.object({
        kty: z.literal('EC'),
        crv: z.literal('P-256'),
        alg: z.literal('ES256'),
        use: z.literal('sig'),
        kid: z.string(),
        x: z.string(),
        y: z.string(),
      }),
    ),
  }),
  { keys: [jwkOf({ kid: SAMPLE_KID, public: SAMPLE_POINT })] },
)
