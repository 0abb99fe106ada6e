import * as z from 'zod'
import { named, timestamp } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { iso } from '../lib/time'
import type { TokenKey } from './keys'
import { KEY_STATES } from './schema'
import { jwkOf } from './signing'

/** The path of what a project publishes. With our address, it is the issuer of its tokens. */
export const issuerPath = (projectId: string) => `/p/${projectId}`

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
export const TokenKeysShown = named(
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

export function presentTokenKey({
  created_at,
  state_at: _,
  ...row
}: TokenKey): z.infer<typeof TokenKeysShown>['data'][number] {
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
