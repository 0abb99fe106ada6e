import * as z from 'zod'
import { visibleText } from '../../http/fields'
import { VENDOR_NAMES } from '../../vendors'
import { MAX_NAME, MAX_SECRET_LENGTH } from './limits'

const signing_secret = z
  .string()
  .min(1)
  .max(MAX_SECRET_LENGTH)
  .describe('The secret as the vendor shows it, as one string. Write-only.')
export const livemode = z
  .boolean()
  .describe(
    "Whether the vendor's account is live. Set by you; applies to all records of the connection, including earlier ones.",
  )

export const CreateBody = z
  .strictObject({
    vendor: z.enum(VENDOR_NAMES),
    name: visibleText(MAX_NAME),
    livemode,
    signing_secret,
  })
  .meta({ id: 'CreateConnection' })

export const UpdateBody = z
  .strictObject({
    name: visibleText(MAX_NAME).optional(),
    status: z.enum(['active', 'disabled']).optional(),
    livemode: livemode.optional(),
  })
  .refine((changes) => Object.keys(changes).length > 0, {
    error: 'must have at least one field to change',
    params: { code: 'required' },
  })
  .meta({ id: 'UpdateConnection' })

export const SecretBody = z.strictObject({ signing_secret }).meta({ id: 'AddSigningSecret' })
