import * as z from 'zod'
import { named } from '../http/fields'
import { RATE_LIMITS } from '../http/limits'
import { canonicalNetwork } from '../lib/networks'
import { MAX_NETWORK_TEXT, MAX_NETWORKS } from './limits'

/* Where a key may be used from, and how often: the fields that a mint and a change have in common. */

const network = z
  .string()
  .max(MAX_NETWORK_TEXT)
  .refine((text) => canonicalNetwork(text) !== null, 'must be a block of IP addresses, for example 192.0.2.0/24')

/** Each block once, in its canonical form. */
const canonical = (networks: string[]) => [...new Set(networks.map((text) => canonicalNetwork(text) ?? text))]

export const allowedNetworks = z
  .array(network)
  .min(1)
  .max(MAX_NETWORKS)
  .overwrite(canonical)
  .nullable()
  .describe(
    'The blocks of addresses (CIDR, IPv4 and IPv6) that the key may be used from. Requests from elsewhere are refused with `network_not_allowed`. Null: it may be used from anywhere.',
  )

const limitFields = { per_minute: z.int().min(1).max(RATE_LIMITS.credential.requests) }

/** As a key shows it. */
export const RateLimit = named('ApiKeyRateLimit', z.object(limitFields))

export const rateLimit = z
  .strictObject(limitFields)
  .nullable()
  .describe(
    `How many requests a minute the key may make: fewer than the ${RATE_LIMITS.credential.requests} of any key. They are counted per location, so the limit is approximate. Null: the key has no limit of its own.`,
  )
