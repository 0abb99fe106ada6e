import * as z from 'zod'
import { MAX_FEATURES } from '../catalog/limits'
import { named, timestamp } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { MAX_KEY } from '../lib/catalog-key'
import { DEFAULT_TTL_S, MAX_TTL_S, MIN_TTL_S } from './limits'

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
