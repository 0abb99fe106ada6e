import * as z from 'zod'
import { named } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { ROLES } from '../lib/access'
import { MAX_EMAIL, MAX_OPEN_DAYS, MIN_OPEN_DAYS, OPEN_DAYS } from './limits'

/** The roles as the OpenAPI document names them. */
export const RoleName = named('Role', z.enum(ROLES))

/** Who is invited, with which role, and for how long. */
export const InviteBody = named(
  'InviteMember',
  z.strictObject({
    email: z.email().max(MAX_EMAIL).describe('The address to invite. Only someone who can sign in with it can accept.'),
    role: RoleName,
    expires_in_days: z
      .int()
      .min(MIN_OPEN_DAYS)
      .max(MAX_OPEN_DAYS)
      .default(OPEN_DAYS)
      .describe('How many days the invitation is open.'),
  }),
  { email: SAMPLE.email, role: 'developer', expires_in_days: OPEN_DAYS },
)
